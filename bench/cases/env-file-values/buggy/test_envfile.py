import pytest

from envfile import EnvError, parse


def test_simple():
    assert parse("A=1\nB = two") == {"A": "1", "B": "two"}


def test_comments_and_blank_lines():
    assert parse("# hello\n\nA=1\n") == {"A": "1"}


def test_export():
    assert parse("export PATH_X=/bin") == {"PATH_X": "/bin"}


def test_quotes():
    assert parse("A='x y'\nB=\"z\"\nC='") == {"A": "x y", "B": "z", "C": "'"}


def test_value_with_equals_sign():
    assert parse("DB=host=localhost port=5432") == {"DB": "host=localhost port=5432"}


def test_base64_padding():
    assert parse("KEY=Zm9vYg==") == {"KEY": "Zm9vYg=="}


def test_no_equals_sign():
    with pytest.raises(EnvError, match="line 2: no '='"):
        parse("A=1\nrubbish")


def test_bad_name():
    with pytest.raises(EnvError, match="bad name '1A'"):
        parse("1A=x")
