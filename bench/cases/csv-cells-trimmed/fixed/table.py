"""Reads small comma-separated tables."""


class TableError(ValueError):
    pass


def cells(line, separator=","):
    """The cells of a line, blanks around them dropped."""
    return [cell.strip() for cell in line.split(separator)]


class Table:
    def __init__(self, header, rows):
        self.header = header
        self.rows = rows

    @classmethod
    def parse(cls, text):
        """A table whose first line names the columns; blank lines are skipped."""
        lines = [line for line in text.splitlines() if line.strip()]
        if not lines:
            raise TableError("no header")
        header = cells(lines[0])
        rows = []
        for number, line in enumerate(lines[1:], 2):
            row = cells(line)
            if len(row) != len(header):
                raise TableError(f"line {number}: {len(row)} cells, {len(header)} columns")
            rows.append(dict(zip(header, row)))
        return cls(header, rows)

    def column(self, name):
        if name not in self.header:
            raise TableError(f"no column {name!r}")
        return [row[name] for row in self.rows]

    def total(self, name):
        return sum(float(cell) for cell in self.column(name))
