import pytest

from isbn import BadISBN, check_digit, valid


@pytest.mark.parametrize("text", ["0-306-40615-2", "0306406152"])
def test_valid(text):
    assert valid(text)


def test_invalid():
    assert not valid("0306406153")


def test_valid_with_x():
    assert valid("0-8044-2957-X")
    assert valid("080442957x")


def test_x_in_the_middle():
    with pytest.raises(BadISBN, match="bad character 'X'"):
        valid("08044X9579")


def test_length():
    with pytest.raises(BadISBN, match="9 digits"):
        valid("030640615")


def test_check_digit():
    assert check_digit("030640615") == "2"
    assert check_digit("080442957") == "X"
