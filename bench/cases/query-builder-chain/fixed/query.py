"""Builds SELECT statements step by step."""


class Query:
    def __init__(self, table):
        self.table = table
        self._columns = []
        self._where = []
        self._values = []
        self._order = None
        self._limit = None

    def select(self, *columns):
        self._columns.extend(columns)
        return self

    def where(self, column, value, operator="="):
        self._where.append(f"{column} {operator} ?")
        self._values.append(value)
        return self

    def order_by(self, column, descending=False):
        self._order = f"{column} DESC" if descending else column
        return self

    def limit(self, count):
        """At most `count` rows."""
        if count < 0:
            raise ValueError("limit can't be negative")
        self._limit = count
        return self

    def build(self):
        """(sql, values)."""
        sql = f"SELECT {', '.join(self._columns) or '*'} FROM {self.table}"
        if self._where:
            sql += " WHERE " + " AND ".join(self._where)
        if self._order:
            sql += f" ORDER BY {self._order}"
        if self._limit is not None:
            sql += f" LIMIT {self._limit}"
        return sql, tuple(self._values)
