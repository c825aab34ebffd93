"""Matrices as lists of rows."""


class ShapeError(ValueError):
    pass


class Matrix:
    def __init__(self, rows):
        self.rows = [list(row) for row in rows]
        if len({len(row) for row in self.rows}) > 1:
            raise ShapeError("rows differ in length")

    @property
    def height(self):
        return len(self.rows)

    @property
    def width(self):
        return len(self.rows[0]) if self.rows else 0

    def __eq__(self, other):
        return isinstance(other, Matrix) and self.rows == other.rows

    def __repr__(self):
        return f"Matrix({self.rows})"

    def __add__(self, other):
        if (self.height, self.width) != (other.height, other.width):
            raise ShapeError("cannot add")
        return Matrix([a + b for a, b in zip(x, y)] for x, y in zip(self.rows, other.rows))

    def __matmul__(self, other):
        columns = list(zip(*other.rows))
        return Matrix([sum(a * b for a, b in zip(row, column)) for column in columns] for row in self.rows)

    def transpose(self):
        return Matrix(zip(*self.rows))

    @classmethod
    def identity(cls, size):
        return cls([int(x == y) for x in range(size)] for y in range(size))
