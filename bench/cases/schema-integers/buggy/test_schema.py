from schema import problems

SCHEMA = {"name": "text", "age": "whole", "admin": "flag?"}


def test_good_data():
    assert problems({"name": "ann", "age": 3, "admin": True}, SCHEMA) == []


def test_optional_field():
    assert problems({"name": "ann", "age": 0}, SCHEMA) == []


def test_missing():
    assert problems({"age": 3}, SCHEMA) == ["name is missing"]


def test_number_as_text():
    assert problems({"name": "ann", "age": "3"}, SCHEMA) == ["age is not whole: '3'"]


def test_flag_is_no_number():
    assert problems({"name": "ann", "age": True}, SCHEMA) == ["age is not whole: True"]


def test_number_is_no_flag():
    assert problems({"name": "a", "age": 1, "admin": 1}, SCHEMA) == ["admin is not flag: 1"]


def test_unknown_field():
    assert problems({"name": "a", "age": 1, "x": 2}, SCHEMA) == ["x is unknown"]
