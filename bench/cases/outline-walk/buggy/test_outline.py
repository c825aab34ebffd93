import pytest

from outline import Heading


@pytest.fixture
def book():
    return Heading("Book", Heading("One", Heading("One A"), Heading("One B")), Heading("Two"))


def test_single():
    assert list(Heading("Alone").walk()) == [(0, "Alone")]


def test_walk(book):
    assert list(book.walk()) == [(0, "Book"), (1, "One"), (2, "One A"), (2, "One B"), (1, "Two")]


def test_find(book):
    assert book.find("One B").title == "One B"
    assert book.find("Three") is None


def test_height(book):
    assert book.height() == 3


def test_render(book):
    assert book.render().splitlines()[2] == "    - One A"


def test_render_single():
    assert Heading("Alone").render() == "- Alone"
