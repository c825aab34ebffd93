import pytest

from html import attributes, element, escape


def test_escape():
    assert escape('a < b & "c"') == "a &lt; b &amp; &quot;c&quot;"


def test_attributes():
    assert attributes({"b": 1, "a": True, "c": None, "d": False}) == ' a b="1"'


def test_nested():
    assert element("p", "hi ", element("b", "you")) == "<p>hi <b>you</b></p>"


@pytest.mark.parametrize("tag", ["br", "img", "input"])
def test_void(tag):
    assert element(tag) == f"<{tag}>"


def test_rule():
    assert element("div", element("hr")) == "<div><hr></div>"


def test_void_with_children():
    with pytest.raises(ValueError, match="<hr> can't have children"):
        element("hr", "x")


def test_empty_element_is_closed():
    assert element("p") == "<p></p>"
