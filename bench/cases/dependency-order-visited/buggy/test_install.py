import pytest

from install import Cycle, Missing, order, unused

PACKAGES = {"app": ["web", "db"], "web": ["core"], "db": ["core"], "core": [], "toy": []}


def test_leaf():
    assert order(PACKAGES, ["core"]) == ["core"]


def test_chain():
    assert order(PACKAGES, ["web"]) == ["core", "web"]


def test_diamond():
    assert order(PACKAGES, ["app"]) == ["core", "web", "db", "app"]


def test_several_wanted():
    assert order(PACKAGES, ["web", "db"]) == ["core", "web", "db"]


def test_cycle():
    with pytest.raises(Cycle, match="a -> b -> a"):
        order({"a": ["b"], "b": ["a"]}, ["a"])


def test_missing():
    with pytest.raises(Missing, match="ghost"):
        order({"a": ["ghost"]}, ["a"])


def test_unused():
    assert unused(PACKAGES, ["web"]) == ["app", "db", "toy"]
