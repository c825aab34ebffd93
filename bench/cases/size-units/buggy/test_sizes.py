import pytest

from sizes import parse, show


def test_plain():
    assert parse("12") == 12


@pytest.mark.parametrize("text, size", [("1K", 1024), ("2 kb", 2048), ("1.5M", 1572864)])
def test_units(text, size):
    assert parse(text) == size


def test_gigabytes():
    assert parse("2G") == 2147483648


def test_terabytes():
    assert parse("1tb") == 1099511627776


def test_unknown_unit():
    with pytest.raises(ValueError, match="unknown unit 'X'"):
        parse("3X")


def test_rubbish():
    with pytest.raises(ValueError, match="no size: 'many'"):
        parse("many")


def test_show():
    assert [show(0), show(1023), show(1536), show(3 * 1024**2)] == ["0", "1023", "1.5K", "3.0M"]


def test_show_gigabytes():
    assert show(5 * 1024**3) == "5.0G"
