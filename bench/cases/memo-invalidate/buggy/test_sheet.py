import pytest

from sheet import Sheet


@pytest.fixture
def sheet():
    sheet = Sheet()
    sheet.set("a", 1)
    sheet.set("b", 2)
    sheet.sum("ab", ["a", "b"])
    return sheet


def test_cells(sheet):
    assert sheet.get("a") == 1
    assert sheet.get("zzz") == 0


def test_sum(sheet):
    assert sheet.get("ab") == 3


def test_sum_of_sums(sheet):
    sheet.sum("all", ["ab", "ab", "a"])
    assert sheet.get("all") == 7


def test_change_after_reading(sheet):
    assert sheet.get("ab") == 3
    sheet.set("a", 10)
    assert sheet.get("ab") == 12


def test_changed_sum(sheet):
    assert sheet.get("ab") == 3
    sheet.sum("ab", ["b"])
    assert sheet.get("ab") == 2


def test_sum_is_protected(sheet):
    with pytest.raises(ValueError, match="ab is a sum"):
        sheet.set("ab", 1)


def test_names(sheet):
    assert sheet.names() == ["a", "ab", "b"]
