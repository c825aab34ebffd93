import pytest

from lookup import assign, lookup

DATA = {"name": "x", "servers": [{"port": 1}, {"port": 2}]}


def test_key():
    assert lookup(DATA, "name") == "x"


def test_list():
    assert lookup(DATA, "servers.1.port") == 2


def test_missing_key():
    assert lookup(DATA, "age", 3) == 3
    with pytest.raises(LookupError, match="nothing at age"):
        lookup(DATA, "age")


def test_missing_index():
    assert lookup(DATA, "servers.2.port", 80) == 80


def test_missing_index_without_default():
    with pytest.raises(LookupError, match="nothing at servers.9"):
        lookup(DATA, "servers.9")


def test_no_number_is_an_error():
    with pytest.raises(ValueError):
        lookup(DATA, "servers.first", 1)


def test_assign():
    data = {}
    assign(data, "a.b.c", 1)
    assert data == {"a": {"b": {"c": 1}}}
