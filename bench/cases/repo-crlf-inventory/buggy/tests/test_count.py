import pytest

from inventory.count import Count


def test_add():
    count = Count()
    count.add("A-1", 2)
    count.add("a-1")
    assert count.parts == {"A-1": 3}


def test_negative():
    with pytest.raises(ValueError, match="negative"):
        Count().add("A", -1)


def test_blanks():
    count = Count()
    count.add(" A-1")
    count.add("A-1 ")
    assert count.parts == {"A-1": 2}


def test_load_with_blanks():
    count = Count()
    count.load("A-1 ; 2\nA-1;3\n\n")
    assert count.parts == {"A-1": 5}


def test_only_blanks():
    with pytest.raises(ValueError, match="empty part number"):
        Count().add("  ")


def test_families():
    count = Count()
    count.load("A-1;2\nA-2;3\nB-1")
    assert count.families() == {"A": 5, "B": 1}


def test_missing():
    count = Count()
    count.add("A-1", 2)
    assert count.missing({"a-1": 5, "B": 0}) == {"A-1": 3}
