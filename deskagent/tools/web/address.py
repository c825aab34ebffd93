"""Which addresses may be asked: http and https, at hosts of the public internet, and at those that the person named.

A page can redirect anywhere, and a name can resolve to anything: what counts is the address that is connected to. It is
checked after each resolution, and the connection is made to that very address.
"""

from __future__ import annotations

import ipaddress
import socket
import threading
import tomllib
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from deskagent import paths
from deskagent.errors import UsageError
from deskagent.tools.base import ToolError

if TYPE_CHECKING:
    import httpx2

LONGEST = 2000
"""Characters of an address."""
_PORTS = {"http": 80, "https": 443}
_EMBEDDED = ("::ffff:0:0/96", "64:ff9b::/96", "::/96")
"""IPv6 networks whose last four bytes are the IPv4 address that is meant."""
_NEVER = tuple(
    map(
        ipaddress.ip_network,
        ("168.63.129.16/32", "192.0.0.0/24", "64:ff9b:1::/48", "fec0::/10", "2001::/32", "2002::/16"),
    )
)
"""Not public, though tables of addresses don't say so everywhere: a cloud's own server, networks behind translators,
tunnels that hold any other address."""


@dataclass(frozen=True, slots=True)
class Address:
    """A checked URL. host: in lower case, ASCII, without brackets. port: always a number."""

    url: httpx2.URL
    host: str
    port: int

    def __str__(self) -> str:
        return str(self.url)


def parse(written: str) -> Address:
    """Errors: ToolError that says what is wrong."""
    import httpx2

    text = written.strip()
    if not text or len(text) > LONGEST:
        raise ToolError(f"An address has 1 to {LONGEST} characters.")
    if "\\" in text or any(ord(sign) <= 32 or ord(sign) == 127 for sign in text):
        raise ToolError(
            "The address holds a space, a backslash or a control character. Write it percent-encoded."
        )
    try:
        url = httpx2.URL(text)
        host = url.raw_host.decode("ascii").strip("[]").rstrip(".").lower()
    except (httpx2.InvalidURL, UnicodeError, ValueError) as error:
        raise ToolError(f"That is no address of a page: {error}.") from None
    if url.scheme not in _PORTS or not host or not 0 < (url.port or 1) < 1 << 16:
        raise ToolError("Only http:// and https:// addresses with a host can be fetched.")
    if url.userinfo:
        raise ToolError("The address holds a user or a password. Such pages aren't fetched.")
    return Address(url.copy_with(fragment=None), host, url.port or _PORTS[url.scheme])


def own_hosts() -> tuple[str, ...]:
    """Hosts, `host` or `host:port`, that the person allows though they aren't public: `allowed_hosts` in the table
    [fetch] of settings.toml, which lies with their settings. Errors: UsageError."""
    file = paths.config_dir() / "settings.toml"
    try:
        found = tomllib.loads(file.read_text("utf-8")).get("fetch", {}).get("allowed_hosts", [])
    except FileNotFoundError:
        return ()
    except (OSError, ValueError, AttributeError) as error:
        raise UsageError(f"{file} can't be read: {error}.", hint="Mend or remove it.") from error
    if not isinstance(found, list):
        raise UsageError(f"allowed_hosts in {file} has to be a list of hosts.")
    return tuple(str(host).lower() for host in found)


def literal(host: str) -> bool:
    """Whether a host is an address rather than a name."""
    try:
        ipaddress.ip_address(host.partition("%")[0])
    except ValueError:
        return False
    return True


def unfit(ip: str) -> str:
    """Why an address isn't one of the public internet; "" where it is."""
    try:
        found = ipaddress.ip_address(ip.partition("%")[0])
    except ValueError:
        return "no address"
    if found.version == 6 and any(found in ipaddress.ip_network(net) for net in _EMBEDDED) and int(found) > 1:
        return unfit(str(ipaddress.IPv4Address(int(found) & 0xFFFFFFFF)))
    if found.is_loopback or found.is_unspecified:
        return "this machine itself"
    if found.is_link_local:
        return "a link-local address, where clouds keep their metadata"
    if found.is_multicast or not found.is_global or any(found in net for net in _NEVER):
        return "a private or reserved address"
    return ""


def refusal(address: Address, ip: str, why: str) -> str:
    """Why an address isn't asked, and who could change that."""
    shown = address.host if ip == address.host else f"{address.host} ({ip})"
    return (
        f"{shown} is {why}: such pages aren't fetched. If the person wants that, they name the host in "
        f'{paths.config_dir() / "settings.toml"}: [fetch] allowed_hosts = ["{address.host}:{address.port}"].'
    )


def allows(address: Address, hosts: Iterable[str]) -> bool:
    """Whether the person named this host."""
    return bool({address.host, f"{address.host}:{address.port}"} & set(hosts))


def check(address: Address, ip: str, hosts: Iterable[str]) -> None:
    """Errors: ToolError for an address that isn't public, unless the person named the host."""
    if (why := unfit(ip)) and not allows(address, hosts):
        raise ToolError(refusal(address, ip, why))


def resolve(address: Address, hosts: Iterable[str], cancel: threading.Event, seconds: float) -> list[str]:
    """The IP addresses to connect to, all of them checked. hosts: that the person named. Errors: ToolError."""
    found = _lookup(address, cancel, seconds)
    for ip in found:
        check(address, ip, hosts)
    return found


def _lookup(address: Address, cancel: threading.Event, seconds: float) -> list[str]:
    """On a thread that may be left behind: the system's resolver can't be told to end."""
    got: list[object] = []
    done = threading.Event()

    def look() -> None:
        try:
            got.extend(socket.getaddrinfo(address.host, address.port, type=socket.SOCK_STREAM))
        except (OSError, UnicodeError) as error:
            got.append(error)
        done.set()

    threading.Thread(target=look, name=f"resolve {address.host}", daemon=True).start()
    step = 0.1
    while not done.wait(step):
        seconds -= step
        if cancel.is_set() or seconds <= 0:
            raise ToolError(f"The name {address.host} wasn't resolved in time.")
    if not got or isinstance(got[0], Exception):
        raise ToolError(f"There is no host {address.host}, or no network: {got[0] if got else 'no address'}.")
    return list(dict.fromkeys(str(info[4][0]) for info in got))  # type: ignore[index]
