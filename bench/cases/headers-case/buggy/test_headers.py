import pytest

from headers import Headers


@pytest.fixture
def headers():
    return Headers([("Content-Type", "text/plain"), ("accept", "a"), ("Accept", "b")])


def test_get(headers):
    assert headers.get("CONTENT-TYPE") == "text/plain"
    assert headers.get("x", "none") == "none"


def test_last_value(headers):
    assert headers.get("Accept") == "b"
    assert headers.all("ACCEPT") == ["a", "b"]


def test_contains(headers):
    assert "content-type" in headers


def test_remove_lower(headers):
    headers.remove("accept")
    assert "Accept" not in headers


def test_remove_any_case(headers):
    headers.remove("Content-Type")
    assert "content-type" not in headers


def test_remove_absent(headers):
    with pytest.raises(KeyError):
        headers.remove("cookie")


def test_lines(headers):
    assert list(headers.lines()) == ["Content-Type: text/plain", "Accept: a", "Accept: b"]
