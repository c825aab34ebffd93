"""Writes INSERT statements for backups."""


def literal(value):
    """A value as an SQL literal."""
    if value is None:
        return "NULL"
    if isinstance(value, bool):
        return "TRUE" if value else "FALSE"
    if isinstance(value, (int, float)):
        return str(value)
    return "'" + str(value).replace("'", "''") + "'"


def insert(table, row):
    """One statement for a row given as a dict."""
    if not row:
        raise ValueError("empty row")
    columns = ", ".join(row)
    values = ", ".join(literal(value) for value in row.values())
    return f"INSERT INTO {table} ({columns}) VALUES ({values});"


def dump(table, rows):
    return "\n".join(insert(table, row) for row in rows)
