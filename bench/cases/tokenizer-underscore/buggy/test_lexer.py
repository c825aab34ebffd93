import pytest

from lexer import LexError, Token, tokens


def texts(source):
    return [token.text for token in tokens(source)]


def test_sum():
    assert texts("1 + 22") == ["1", "+", "22"]


def test_name_with_digits():
    assert tokens("x2") == [Token("name", "x2", 0)]


def test_name_with_underscore():
    assert texts("max_value*2") == ["max_value", "*", "2"]


def test_private_names():
    assert texts("a+b_") == ["a", "+", "b_"]


def test_decimal():
    assert texts("3.14") == ["3.14"]


def test_two_dots():
    with pytest.raises(LexError, match="two dots"):
        tokens("1.2.3")


def test_calls():
    assert texts("f(a,b)") == ["f", "(", "a", ",", "b", ")"]


def test_unknown_character():
    with pytest.raises(LexError, match="'%' at 2"):
        tokens("a %")


def test_positions():
    assert [token.position for token in tokens(" a  = 1")] == [1, 4, 6]
