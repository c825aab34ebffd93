"""A type too many: in the tuple of an `isinstance` or an `except`, and `except Exception` where less was meant."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from deskagent.repair.candidates.base import Place, Proposal, Table, arguments, called_name, put
from deskagent.repair.nodes import Node
from deskagent.repair.syntax import block

_WIDE = frozenset({"Exception", "BaseException"})
# what in a try's block raises which error: a node's kind, or the name of what is called
_FROM = {
    "subscript": ("KeyError", "IndexError", "LookupError"),
    "attribute": ("AttributeError",),
    "int": ("ValueError", "TypeError"), "float": ("ValueError", "TypeError"), "loads": ("ValueError",),
    "index": ("ValueError",), "next": ("StopIteration",), "open": ("OSError", "FileNotFoundError"),
    "read_text": ("OSError", "FileNotFoundError"), "decode": ("UnicodeDecodeError",), "pop": ("KeyError", "IndexError"),
    "binary_operator": ("TypeError", "ZeroDivisionError"), "import_statement": ("ImportError",),
    "import_from_statement": ("ImportError",),
}  # fmt: skip


def _without(kinds: Node, unwanted: Iterable[str], operator: str) -> Iterator[Proposal]:
    """The tuple less those of its elements; a single one that is left stands alone."""
    for name in unwanted:
        left = [part.text for part in kinds.parts if part.text.rpartition(".")[2] != name]
        if 0 < len(left) < len(kinds.parts):
            yield put(operator, kinds, left[0] if len(left) == 1 else f"({', '.join(left)})", 1.0)


def fewer_types(node: Node, place: Place) -> Iterator[Proposal]:
    """`isinstance(x, (int, bool))` → `isinstance(x, int)`, where the failing tests hand in such a value."""
    given = arguments(node)
    if called_name(node) == "isinstance" and len(given) == 2 and given[1].kind == "tuple":
        calls = [value for call in place.hints.asked.failing[:12] for value in call.values]
        shown = dict.fromkeys(type(value).__name__ for value in (*calls, *place.hints.examples.given[:12]))
        yield from _without(given[1], shown, "type.fewer")


def fewer_caught(node: Node, place: Place) -> Iterator[Proposal]:
    """`except (KeyError, ValueError):` → `except KeyError:` where the tests want the other to come out, and
    `except Exception:` → the error that the block may raise besides."""
    wanted = dict.fromkeys(raised.name for raised in place.hints.asked.raises)
    value = node.get("value") or (node.parts[0] if node.parts and node.parts[0].kind != "block" else None)
    if value is None or not wanted:
        return
    if value.kind == "as_pattern":
        value = value.parts[0]
    if value.kind == "tuple":
        yield from _without(value, wanted, "exception.fewer")
    elif value.text in _WIDE:
        for name, weight in _raised_in(node).items():
            if name not in wanted:
                yield put("exception.fewer", value, name, weight)


def _raised_in(clause: Node) -> dict[str, float]:
    """The errors that the block before an except clause may raise, the likeliest first."""
    body = block(clause.parent) if clause.parent is not None else None
    found: dict[str, float] = {}
    for part in body.walk() if body is not None else ():
        kind = called_name(part) if part.kind == "call" else part.kind
        for at, name in enumerate(_FROM.get(kind, ())):
            found.setdefault(name, 1.0 - 0.3 * at)
    return dict(sorted(found.items(), key=lambda item: -item[1]))


TABLE: Table = {"call": (fewer_types,), "except_clause": (fewer_caught,)}
