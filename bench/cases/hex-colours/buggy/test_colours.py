import pytest

from colours import find_all, mix, parse, show


def test_long():
    assert parse("#ff8000") == (255, 128, 0)


def test_short():
    assert parse("#fa0") == (255, 170, 0)


def test_upper_case():
    assert parse("#FF8800") == (255, 136, 0)


def test_upper_case_short():
    assert parse("#FA0") == (255, 170, 0)


@pytest.mark.parametrize("text", ["ff8000", "#ff80", "#gggggg", "#GGG", ""])
def test_no_colour(text):
    with pytest.raises(ValueError):
        parse(text)


def test_mix():
    assert mix("#000000", "#ffffff") == "#7f7f7f"


def test_find_all():
    assert find_all("a: #fff; b: #123456") == ["#fff", "#123456"]


def test_show():
    assert show((1, 2, 255)) == "#0102ff"
