import pytest

from table import Table, TableError


def test_column():
    assert Table.parse("a,b\n1,2\n3,4").column("b") == ["2", "4"]


def test_total():
    assert Table.parse("a\n1.5\n 2").total("a") == 3.5


def test_blanks_in_the_header():
    assert Table.parse("name, age\nann,3").column("age") == ["3"]


def test_blanks_in_cells():
    assert Table.parse("name,town\nann , New York").rows == [{"name": "ann", "town": "New York"}]


def test_blank_lines():
    assert Table.parse("\na\n\n1\n").column("a") == ["1"]


def test_unknown_column():
    with pytest.raises(TableError, match="no column 'x'"):
        Table.parse("a\n1").column("x")


def test_ragged():
    with pytest.raises(TableError, match="line 2: 1 cells, 2 columns"):
        Table.parse("a,b\n1")


def test_empty():
    with pytest.raises(TableError):
        Table.parse("  \n")
