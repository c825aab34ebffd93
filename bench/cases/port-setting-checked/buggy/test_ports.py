import pytest

from ports import port


def test_set():
    assert port({"port": "99"}) == 99


def test_not_set():
    assert port({}) == 8080


def test_out_of_range():
    with pytest.raises(ValueError, match="no port"):
        port({"port": 70000})


def test_no_number():
    with pytest.raises(ValueError):
        port({"port": "http"})
