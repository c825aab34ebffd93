"""Addresses: what is no address of a page is refused, and none that isn't public passes, however it is written."""

from __future__ import annotations

import ipaddress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deskagent.errors import UsageError
from deskagent.tools.base import ToolError
from deskagent.tools.web import address
from deskagent.tools.web.address import own_hosts, parse, unfit

INNER = """
127.0.0.1 127.8.8.8 10.1.2.3 192.168.1.1 172.16.0.1 169.254.169.254 100.100.100.200 0.0.0.0 255.255.255.255 224.0.0.1
168.63.129.16 192.0.0.192 198.18.0.1 240.0.0.1 ::1 :: fe80::1 fe80::1%eth0 fc00::1 fd00:ec2::254 fec0::1 ff02::1
::ffff:127.0.0.1 ::ffff:10.0.0.1 64:ff9b::7f00:1 64:ff9b::a00:1 ::7f00:1 2002:7f00:1:: 2001:0:1:: 2001:db8::1 x
"""


@pytest.mark.parametrize(
    "written",
    [
        "", " ", "file:///etc/passwd", "ftp://a.b/", "//a.b", "a.b", "http://", "http:///x", "javascript:alert(1)",
        "data:text/html,x", "http://u@a.b/", "http://u:p@a.b/", "http://a.b:99999/", "http://a\\@b.c/", "http://a.b/ c",
        "http://a.b/\nc", "http://a.b/\0", "http://[::1", "http://" + "a" * 3000, "view-source:http://a.b", "http://:80/",
    ],
)  # fmt: skip
def test_what_is_no_address_of_a_page_is_refused(written: str) -> None:
    with pytest.raises(ToolError):
        parse(written)


@pytest.mark.parametrize(
    ("written", "host", "port"),
    [
        ("HTTP://EXAMPLE.org.", "example.org", 80),
        ("https://example.org:8443/a?b#c", "example.org", 8443),
        ("https://bücher.example/", "xn--bcher-kva.example", 443),
        ("http://[2001:4860::8888]/", "2001:4860::8888", 80),
    ],
)
def test_hosts_are_known_by_one_name(written: str, host: str, port: int) -> None:
    found = parse(written)
    assert (found.host, found.port) == (host, port) and "#" not in str(found)


@pytest.mark.parametrize("ip", INNER.split())
def test_addresses_that_arent_public(ip: str) -> None:
    assert unfit(ip)


@pytest.mark.parametrize(
    "ip", ["8.8.8.8", "1.1.1.1", "2606:4700::1111", "::ffff:8.8.8.8", "64:ff9b::808:808"]
)
def test_addresses_that_are(ip: str) -> None:
    assert unfit(ip) == ""


@given(st.ip_addresses(v=4))
def test_an_address_inside_another_is_judged_as_itself(ip: ipaddress.IPv4Address) -> None:
    inside = [f"::ffff:{ip}", str(ipaddress.IPv6Address(int(ipaddress.ip_address("64:ff9b::")) + int(ip)))]
    assert all(bool(unfit(each)) == bool(unfit(str(ip))) for each in inside)
    if not ip.is_global:
        assert unfit(str(ip))


@given(st.text(max_size=40))
def test_any_text_is_an_address_or_refused(text: str) -> None:
    for written in (text, f"http://{text}", f"https://a.example/{text}"):
        try:
            found = parse(written)
        except ToolError:
            continue
        assert found.url.scheme in ("http", "https") and found.host and not found.url.userinfo
        assert found.host == found.host.lower() and str(found).isascii()


@pytest.mark.parametrize("text", ["[fetch", "fetch = 1", "[fetch]\nallowed_hosts = 'x'"])
def test_settings_that_cant_be_read_are_said(tmp_path, monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    monkeypatch.setattr(address.paths, "config_dir", lambda: tmp_path)
    assert own_hosts() == ()
    (tmp_path / "settings.toml").write_text(text)
    with pytest.raises(UsageError, match=r"settings\.toml"):
        own_hosts()
