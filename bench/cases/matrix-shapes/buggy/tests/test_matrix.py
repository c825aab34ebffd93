import pytest

from matrix import Matrix, ShapeError


def test_add():
    assert Matrix([[1, 2]]) + Matrix([[3, 4]]) == Matrix([[4, 6]])


def test_add_unfitting():
    with pytest.raises(ShapeError, match="cannot add"):
        Matrix([[1, 2]]) + Matrix([[1], [2]])


def test_multiply():
    product = Matrix([[1, 2], [3, 4]]) @ Matrix([[5, 6], [7, 8]])
    assert product == Matrix([[19, 22], [43, 50]])


def test_multiply_oblong():
    assert Matrix([[1, 2, 3]]) @ Matrix([[1], [2], [3]]) == Matrix([[14]])


def test_multiply_column_by_row():
    assert Matrix([[1], [2]]) @ Matrix([[3, 4]]) == Matrix([[3, 4], [6, 8]])


def test_multiply_unfitting():
    with pytest.raises(ShapeError, match="cannot multiply"):
        Matrix([[1, 2, 3]]) @ Matrix([[1], [2]])


def test_identity():
    matrix = Matrix([[2, 5], [1, 0]])
    assert Matrix.identity(2) @ matrix == matrix


def test_ragged():
    with pytest.raises(ShapeError):
        Matrix([[1], [1, 2]])
