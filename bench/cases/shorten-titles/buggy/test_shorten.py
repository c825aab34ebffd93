import pytest

from shorten import column, shorten, table


def test_short_text_stays():
    assert shorten("abc", 10) == "abc"


def test_exact_fit():
    assert shorten("abcdefghij", 10) == "abcdefghij"


def test_long_text():
    assert shorten("abcdefghijkl", 10) == "abcdefg..."


def test_white_space_is_squeezed():
    assert shorten("a\n  b", 10) == "a b"


def test_no_blank_before_the_mark():
    assert shorten("the quick brown fox", 13) == "the quick..."


def test_too_narrow():
    with pytest.raises(ValueError, match="at least 3"):
        shorten("abc", 2)


def test_column():
    assert column(["ab", "abcdefgh"], 5) == ["ab   ", "ab..."]


def test_table():
    assert table([["a", "b"]], 3) == "a   | b"
