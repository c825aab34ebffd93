import pytest

from plural import count, plural


@pytest.mark.parametrize("word, expected", [
    ("cat", "cats"),
    ("bus", "buses"),
    ("wish", "wishes"),
    ("church", "churches"),
    ("box", "boxes"),
    ("knife", "knives"),
])
def test_regular(word, expected):
    assert plural(word) == expected


def test_y():
    assert plural("city") == "cities"
    assert plural("day") == "days"


def test_irregular():
    assert plural("child") == "children"
    assert plural("woman") == "women"


def test_rodents():
    assert plural("mouse") == "mice"
    assert count(3, "mouse") == "3 mice"


def test_house_is_regular():
    assert plural("house") == "houses"


def test_same():
    assert plural("sheep") == "sheep"


def test_count():
    assert count(1, "tooth") == "1 tooth"
    assert count(0, "tooth") == "0 teeth"
