import pytest

from registry import Registry


@pytest.fixture
def registry():
    registry = Registry()
    registry.register("list", list)
    return registry


def test_create(registry):
    assert registry.create("list", "ab") == ["a", "b"]


def test_unknown(registry):
    with pytest.raises(KeyError, match="known: list"):
        registry.create("dict")


def test_twice(registry):
    with pytest.raises(ValueError, match="list is registered already"):
        registry.register("list", tuple)
    assert registry.create("list") == []


def test_replace(registry):
    registry.register("list", tuple, replace=True)
    assert registry.create("list") == ()


def test_nameless(registry):
    with pytest.raises(ValueError, match="needs a name"):
        registry.register("", list)


def test_remove(registry):
    registry.remove("list")
    registry.remove("list")
    assert registry.names() == []
