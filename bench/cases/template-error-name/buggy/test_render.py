import pytest

from render import TemplateError, render, variables


def test_plain():
    assert render("Dear {{name}}!", {"name": "Ann"}) == "Dear Ann!"


def test_filter():
    assert render("{{ name|upper }}", {"name": "Ann"}) == "ANN"


def test_number():
    assert render("{{n}} of {{n}}", {"n": 3}) == "3 of 3"


def test_unknown_variable():
    with pytest.raises(TemplateError) as info:
        render("{{age}}", {"name": "Ann"})
    assert str(info.value) == "unknown variable: age"


def test_unknown_filter():
    with pytest.raises(TemplateError) as info:
        render("{{n|shout}}", {"n": 1})
    assert str(info.value) == "unknown filter: shout"


def test_variables():
    assert variables("{{b}} {{a|upper}} {{b}}") == ["b", "a"]
