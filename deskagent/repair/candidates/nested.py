"""A row of a table in a table, after the rows beside it, with what the failing tests hand in and want."""

from __future__ import annotations

from collections.abc import Iterator

from deskagent.repair.asked import Call
from deskagent.repair.candidates.base import Place, Proposal, Table, shorten
from deskagent.repair.candidates.shown import literal, written
from deskagent.repair.nodes import Node

_LEAST, _MOST_CALLS, _MOST_COLUMNS = 2, 12, 6
_PLAIN = (str, int, float)


def _after(like: Node, before: Node | None, text: str, weight: float) -> Proposal:
    """`text` as an element after `like`, on a line of its own where that stands on one."""
    alone = like.syntax.starts_line(like) and (before is None or before.row != like.row)
    gap = "\n" + like.syntax.indent(like) if alone else " "
    edit = (like.end, like.end, f",{gap}{text}")
    return Proposal("element.nested", weight, (edit,), f"add {shorten(text)}")


def _keyed(node: Node) -> dict[object, tuple[Node, Node]]:
    """Key → (pair, value) of a dictionary whose keys are plain; empty for another."""
    found: dict[object, tuple[Node, Node]] = {}
    for part in node.parts:
        key, value = part.get("key"), part.get("value")
        if part.kind != "pair" or key is None or value is None or not isinstance(literal(key), _PLAIN):
            return {}
        found[literal(key)] = part, value
    return found


def _calls(place: Place) -> list[tuple[Call, list[object]]]:
    """Failing calls with a plain result, and the plain values that they hand in."""
    told = []
    for call in place.hints.asked.failing[:_MOST_CALLS]:
        values = [v for v in (*call.values, *call.keywords.values()) if type(v) in _PLAIN]
        if values and type(call.result) in (*_PLAIN, bool):
            told.append((call, values))
    return told


def in_dictionary(node: Node, place: Place) -> Iterator[Proposal]:
    """`{"km": {"m": 1000}}` → `{"km": {"m": 1000, "cm": 100000}}`, or with another `"m": {"cm": 100}`."""
    rows = _keyed(node)
    inner = {key: _keyed(value) for key, (_, value) in rows.items() if value.kind == "dictionary"}
    if not inner or len(inner) != len(rows) or not any(inner.values()):
        return
    for call, values in _calls(place):
        for at, outer in enumerate(values):
            for key in values[:at] + values[at + 1 :]:
                known = inner.get(outer)
                if known and key not in known:
                    pairs = list(known.values())
                    like = pairs[-1]
                    if type(literal(like[1])) is type(call.result):
                        text = f"{written(like[0].parts[0], key)}: {written(like[1], call.result)}"
                        before = pairs[-2][0] if len(pairs) > 1 else None
                        yield _after(like[0], before, text, 1.0)
                elif outer not in rows and len(rows) >= _LEAST:
                    pair, value = list(rows.values())[-1]
                    like = next(iter(_keyed(value).values()), None)
                    if like is not None and type(literal(like[1])) is type(call.result):
                        row = f"{written(like[0].parts[0], key)}: {written(like[1], call.result)}"
                        text = f"{written(pair.parts[0], outer)}: {{{row}}}"
                        yield _after(pair, list(rows.values())[-2][0], text, 0.8)


def in_list(node: Node, place: Place) -> Iterator[Proposal]:
    """`[("x", 1), ("y", 2)]` → with `("z", 3)`; rows may be dictionaries too. What the test doesn't say of the row is
    as in the last one."""
    rows = node.parts
    last = rows[-1] if rows else None
    if last is None or len(rows) < _LEAST or any(row.kind != last.kind for row in rows):
        return
    columns = [_columns(row) for row in rows]
    cells = columns[-1]
    if not 1 < len(cells) <= _MOST_COLUMNS or any(len(other) != len(cells) for other in columns):
        return
    for call, values in _calls(place):
        for value in values:
            for at, cell in enumerate(cells):
                held = {str(literal(other[at])) for other in columns}
                if type(literal(cell)) is not type(value) or str(value) in held:
                    continue
                for to, other in enumerate(cells):
                    if to != at and type(literal(other)) is type(call.result):
                        text = _filled(last, {cell: written(cell, value), other: written(other, call.result)})
                        yield _after(last, rows[-2], text, 1.0 if at < to else 0.6)


def _columns(row: Node) -> list[Node]:
    """The cells of a row: a tuple's or list's elements, a dictionary's values."""
    if row.kind in {"tuple", "list"}:
        return row.parts
    return [value for _, value in _keyed(row).values()] if row.kind == "dictionary" else []


def _filled(row: Node, cells: dict[Node, str]) -> str:
    """`row`'s text with `cells` in it."""
    text, source = "", row.syntax.source.utf8
    at = row.start
    for cell in sorted(cells, key=lambda cell: cell.start):
        text += source[at : cell.start].decode("utf-8", "replace") + cells[cell]
        at = cell.end
    return text + source[at : row.end].decode("utf-8", "replace")


TABLE: Table = {"dictionary": (in_dictionary,), "list": (in_list,), "tuple": (in_list,)}
