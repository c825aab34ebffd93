import pytest

from pager import Pager


def test_first_page():
    page = Pager(range(25)).page(1)
    assert page.items == tuple(range(10))
    assert page.has_next and not page.has_previous


def test_last_page():
    page = Pager(range(25)).page(3)
    assert page.items == (20, 21, 22, 23, 24)
    assert page.has_previous and not page.has_next


def test_no_results():
    assert Pager([]).page(1).items == ()


def test_past_the_end():
    with pytest.raises(LookupError, match="no page 4 of 3"):
        Pager(range(25)).page(4)


@pytest.mark.parametrize("number", [0, -1])
def test_before_the_start(number):
    with pytest.raises(ValueError, match="page must be at least 1"):
        Pager(range(25)).page(number)


def test_bad_size():
    with pytest.raises(ValueError, match="size must be at least 1"):
        Pager([], 0)


def test_iterate():
    assert [page.number for page in Pager(range(11))] == [1, 2]
