"""Exceptions: another type raised, another or one more caught."""

from __future__ import annotations

from collections.abc import Iterator

from deskagent.repair.candidates.base import Place, Proposal, Table, put
from deskagent.repair.nodes import Node
from deskagent.repair.scope import BUILTINS

# exception → those it is taken for, and those that come with it
NEAR: dict[str, tuple[str, ...]] = {
    "KeyError": ("IndexError", "AttributeError", "ValueError", "LookupError", "TypeError"),
    "IndexError": ("KeyError", "ValueError", "LookupError", "TypeError"),
    "LookupError": ("KeyError", "ValueError"),
    "ValueError": ("TypeError", "KeyError", "OverflowError", "IndexError", "AttributeError"),
    "TypeError": ("ValueError", "AttributeError"),
    "AttributeError": ("TypeError", "KeyError", "ValueError"),
    "OSError": ("ValueError", "FileNotFoundError", "UnicodeDecodeError"),
    "FileNotFoundError": ("OSError", "NotADirectoryError", "PermissionError", "IsADirectoryError"),
    "ImportError": ("ModuleNotFoundError", "AttributeError"),
    "ModuleNotFoundError": ("ImportError",),
    "UnicodeDecodeError": ("UnicodeError", "ValueError"),
    "UnicodeEncodeError": ("UnicodeError", "UnicodeDecodeError"),
    "ZeroDivisionError": ("ArithmeticError", "ValueError", "OverflowError"),
    "StopIteration": ("IndexError", "ValueError"),
    "RuntimeError": ("ValueError", "TypeError"),
    "NotImplementedError": ("TypeError", "ValueError"),
    "Exception": ("ValueError",),
    "ConnectionError": ("OSError", "TimeoutError"),
    "TimeoutError": ("OSError", "ConnectionError"),
}


def _others(old: str, place: Place) -> dict[str, float]:
    """Exceptions that may have been meant: what the failing tests name, what is mistaken for it, the file's own."""
    found = dict.fromkeys(NEAR.get(old, ()), 0.4)
    for name in place.names.values():
        if name.origin in {"definition", "import"} and name.text.endswith(("Error", "Exception", "Warning")):
            found.setdefault(name.text, 0.3)
    for exception in sorted(place.hints.exceptions - {"AssertionError", "Timeout"}):
        if exception in BUILTINS or exception in place.names:
            found[exception] = 1.0
    for raised in place.hints.asked.raises:
        if raised.name in BUILTINS or raised.name in place.names:
            found[raised.name] = 1.0
    found.pop(old, None)
    return found


def raised(node: Node, place: Place) -> Iterator[Proposal]:
    """`raise KeyError(…)` → `raise ValueError(…)`."""
    value = node.parts[0] if node.parts else None
    kind = value.get("function") if value is not None and value.kind == "call" else value
    if kind is None or kind.kind != "identifier":
        return
    for new, weight in _others(kind.text, place).items():
        yield put("exception.raised", kind, new, weight)


def _escaping(old: str, place: Place) -> dict[str, float]:
    """As `_others`; those that ended a failing test leave little to the rest."""
    found = _others(old, place)
    ended = {error.partition(":")[0].rpartition(".")[2] for error in place.hints.examples.errors}
    share = 0.25 if ended & found.keys() else 1.0
    return {name: weight if name in ended else weight * share for name, weight in found.items()}


def caught(node: Node, place: Place) -> Iterator[Proposal]:
    """`except KeyError:` → `except (KeyError, IndexError):`, another one, `Exception`."""
    value = node.get("value") or (node.parts[0] if node.parts and node.parts[0].kind != "block" else None)
    if value is None:
        return
    if value.kind == "as_pattern":
        value = value.parts[0]
    if value.kind == "tuple":
        held = [part.text for part in value.parts]
        for old in held:
            for new, weight in _escaping(old, place).items():
                if new not in held:
                    yield put("exception.caught", value, f"({', '.join([*held, new])})", weight)
        return
    if value.kind not in {"identifier", "attribute"}:
        return
    for new, weight in _escaping(value.text, place).items():
        yield put("exception.caught", value, f"({value.text}, {new})", weight)
        yield put("exception.caught", value, new, weight * 0.6)
    if value.text != "Exception":
        yield put("exception.caught", value, "Exception", 0.3)


TABLE: Table = {"raise_statement": (raised,), "except_clause": (caught,)}
