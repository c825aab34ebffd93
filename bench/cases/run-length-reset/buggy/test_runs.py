import pytest

from runs import decode, encode, longest, runs


def test_one_run():
    assert runs("aaa") == [("a", 3)]


def test_two_runs():
    assert runs("aab") == [("a", 2), ("b", 1)]


def test_empty():
    assert runs("") == []
    assert encode("") == ""


def test_encode():
    assert encode("aaabcc") == "3ab2c"


def test_digits():
    with pytest.raises(ValueError, match="digits"):
        encode("a1")


def test_decode():
    assert decode("3ab12c") == "aaab" + "c" * 12


def test_decode_cut_off():
    with pytest.raises(ValueError):
        decode("a3")


def test_longest():
    assert longest("zzz") == ("z", 3)
    assert longest("") is None
