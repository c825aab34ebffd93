import pytest

from listing import File, Listing


@pytest.fixture
def listing():
    return Listing([File("b.txt", 2), File(".git", folder=True), File("A.txt", 1), File("src", folder=True), File("x~", 9)])


def test_is_hidden(listing):
    assert listing.is_hidden(File(".profile"))
    assert not listing.is_hidden(File("profile"))


def test_visible(listing):
    assert [file.name for file in listing.visible()] == ["src", "A.txt", "b.txt"]


def test_render(listing):
    assert listing.render() == ["src/", "A.txt 1", "b.txt 2"]


def test_own_patterns():
    assert Listing([File("a")], hidden=["?"]).is_hidden(File("z"))


def test_total_size(listing):
    assert listing.total_size() == 12


def test_empty():
    assert Listing([]).render() == []
