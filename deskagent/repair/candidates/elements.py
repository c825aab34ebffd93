"""An element more beside its like, or another value in one: keys and values that the failing tests show."""

from __future__ import annotations

from collections.abc import Iterator

from deskagent.repair.candidates.base import Place, Proposal, Table, put, shorten
from deskagent.repair.candidates.shown import Ranked, best, fit, literal, numbers, texts, written
from deskagent.repair.nodes import Node

ROWS = frozenset({"pair", "tuple", "list", "call"})
NUMBERS = frozenset({"integer", "float"})
KEYS, VALUES = 14, 6
"""How many of each are tried at one collection."""
_SPLITTING = frozenset({"split", "splitlines"})


def more(node: Node, place: Place) -> Iterator[Proposal]:
    """`{"man": "men"}` → `{"man": "men", "mouse": "mice"}`, at its place where the keys are sorted."""
    parts = node.parts
    if not parts or (node.parent is not None and node.parent.kind in {"subscript", "pattern_list"}):
        return
    kind = parts[-1].kind
    if len({part.kind for part in parts}) > 2:
        return
    keys = [key for part in parts if (key := _key(part)) is not None]
    if kind in ROWS and len(keys) == len(parts):
        yield from _rows(node, parts, keys, place)
    elif kind == "string":
        held = [str(literal(part)) for part in parts if part.kind == "string"]
        for text, weight in _fresh(texts(place.hints), held):
            yield _insert(node, parts, parts, written(parts[-1], text), text, weight)
    elif kind in NUMBERS and len(parts) > 1:
        held = {literal(part) for part in parts}
        for value, weight in best(numbers(place.hints), KEYS):
            if value not in held:
                yield _insert(node, parts, parts, written(parts[-1], value), value, 0.5 * weight)
    elif kind in {"identifier", "attribute"} and len(parts) > 1:
        yield from _names(node, parts, place)


def _key(part: Node) -> Node | None:
    """What tells a row from its like: a pair's key, the first literal of a tuple or call."""
    if part.kind == "pair":
        key = part.get("key")
    elif part.kind == "call":
        given = part.get("arguments")
        key = given.parts[0] if given is not None and given.parts else None
    else:
        key = part.parts[0] if part.parts else None
    return key if key is not None and key.kind in {"string", "integer"} else None


def _value(part: Node, key: Node) -> Node | None:
    """What a row holds beside its key, if that is one expression."""
    if part.kind == "pair":
        return part.get("value")
    row = key.parent.parts if key.parent is not None else []
    return row[1] if len(row) > 1 else None


def _rows(node: Node, parts: list[Node], keys: list[Node], place: Place) -> Iterator[Proposal]:
    like, key = parts[-1], keys[-1]
    held = [literal(k) for k in keys]
    if key.kind == "string":
        fresh = _fresh(texts(place.hints), [str(value) for value in held])
    else:
        fresh = [(v, w) for v, w in best(numbers(place.hints), KEYS) if v not in held and isinstance(v, int)]
    value = _value(like, key)
    pool = _values(parts, keys, value, place) if value is not None else {}
    for new, weight in fresh:
        head = written(key, new)
        if value is None:
            text = _with(like, ((key, head),))
            yield _insert(node, parts, keys, text, new, weight)
            continue
        options = dict(pool)
        if value.kind in {"identifier", "attribute"} and isinstance(new, str):
            options |= _named_alike(new, place)
        if value.kind not in {"string", "integer", "float", "true", "false", "identifier", "attribute"}:
            options[value.text] = 0.5
        for text, share in best(options, VALUES):
            if text != head:
                row = _with(like, ((key, head), (value, str(text))))
                yield _insert(node, parts, keys, row, new, weight * share)


def _values(parts: list[Node], keys: list[Node], value: Node, place: Place) -> Ranked:
    """Source text of what a new row may hold."""
    found: Ranked = {}
    siblings = [v for part, key in zip(parts, keys, strict=True) if (v := _value(part, key)) is not None]
    if value.kind == "string":
        held = [str(literal(v)) for v in siblings if v.kind == "string"]
        for index, wanted in enumerate(v for v in place.hints.examples.expected if isinstance(v, str)):
            found.setdefault(written(value, wanted), max(0.3, 1.0 - 0.15 * index))
        for text, weight in best(texts(place.hints), 8):
            found.setdefault(written(value, text), 0.4 * weight * fit(str(text), held))
    elif value.kind in NUMBERS or value.kind == "unary_operator":
        for number, weight in best(numbers(place.hints), VALUES):
            found.setdefault(written(value, number), weight)
    elif value.kind in {"list", "tuple", "set", "dictionary"}:
        kinds = {"list": list, "tuple": tuple, "set": set, "dictionary": dict}
        for wanted in place.hints.examples.expected:
            if type(wanted) is kinds[value.kind]:
                found.setdefault(repr(wanted), 0.8)
    texts_held = [v.text for v in siblings if v.end - v.start <= 60]
    for text in dict.fromkeys(texts_held):
        found.setdefault(text, 0.15 + 0.5 * texts_held.count(text) / len(texts_held))
    return found


def _named_alike(key: str, place: Place) -> Ranked:
    """Functions and classes of the file whose name speaks of the key."""
    wanted = "".join(c for c in key.lower() if c.isalnum())
    alike: Ranked = {
        name.text: 1.0 if name.reads <= 1 else 0.6
        for name in place.callables
        if wanted and wanted in name.text.lower().replace("_", "")
    }
    unused: Ranked = {
        name.text: 0.5 for name in place.callables if name.origin == "definition" and not name.reads
    }
    return unused | alike


def _names(node: Node, parts: list[Node], place: Place) -> Iterator[Proposal]:
    """`[A, B]` → `[A, B, C]`: names of the same sort that the collection lacks, unused ones first."""
    held = {part.text for part in parts}
    if parts[-1].kind == "attribute":
        owner = parts[-1].get("object")
        known = place.syntax.attribute_uses.get((owner.text, False), set()) if owner is not None else set()
        for name in sorted(known):
            text = f"{owner.text}.{name}" if owner is not None else name
            if text not in held:
                yield _insert(node, parts, parts, text, text, 0.6)
        return
    first = place.names.get(parts[-1].text)
    for name in place.names.values() if first is not None else ():
        if (
            name.text in held
            or first is None
            or name.origin != first.origin
            or not name.could_be(first.kinds)
        ):
            continue
        alike = (
            name.text.isupper() == parts[-1].text.isupper()
            and name.text[0].isupper() == parts[-1].text[0].isupper()
        )
        if alike:
            yield _insert(node, parts, parts, name.text, name.text, 0.8 if name.reads == 0 else 0.3)


def _fresh(pool: Ranked, held: list[str]) -> list[tuple[object, float]]:
    ranked: Ranked = {
        text: weight * fit(str(text), held) for text, weight in pool.items() if text not in held
    }
    return list(best(ranked, KEYS))


def _with(node: Node, changes: tuple[tuple[Node, str], ...]) -> str:
    """`node`'s text with parts of it replaced."""
    source, at, out = node.syntax.source.utf8, node.start, ""
    for part, new in sorted(changes, key=lambda change: change[0].start):
        out += source[at : part.start].decode("utf-8", "replace") + new
        at = part.end
    return out + source[at : node.end].decode("utf-8", "replace")


def _insert(
    node: Node, parts: list[Node], keys: list[Node], text: str, new: object, weight: float
) -> Proposal:
    """`text` as an element more: where its key belongs if the keys are sorted, else last."""
    last = parts[-1]
    line = "\n" + node.syntax.indent(last) if len(parts) > 1 and last.row > parts[-2].row else " "
    if len(parts) == 1 and node.syntax.starts_line(last):
        line = "\n" + node.syntax.indent(last)
    index = len(parts)
    if type(new) in (int, float) and len(keys) == len(parts) > 2:
        numeric = [value for key in keys if isinstance(value := literal(key), (int, float))]
        if len(numeric) == len(parts) and numeric == sorted(numeric, reverse=True):
            index = sum(value > new for value in numeric)  # type: ignore[operator]
        elif len(numeric) == len(parts) and numeric == sorted(numeric):
            index = sum(value < new for value in numeric)  # type: ignore[operator]
    held = [literal(key) if key.kind != "identifier" else key.text for key in keys]
    plain = [value for value in held if isinstance(value, str)]
    if isinstance(new, str) and len(plain) == len(parts) > 2 and plain == sorted(plain):
        index = sum(value < new for value in plain)
    at, piece = (parts[index - 1].end, f",{line}{text}") if index else (parts[0].start, f"{text},{line}")
    return Proposal("element.more", min(1.0, weight), ((at, at, piece),), f"add {shorten(text)}")


def fewer(node: Node, place: Place) -> Iterator[Proposal]:
    """An element that the failing test hands in taken out."""
    parts = node.parts
    shown = texts(place.hints)
    for index, part in enumerate(parts) if len(parts) > 1 else ():
        key = part if part.kind == "string" else _key(part)
        weight = shown.get(literal(key), 0.0) if key is not None else 0.0
        if weight > 0.3:
            start, end = (parts[index - 1].end, part.end) if index else (part.start, parts[1].start)
            yield Proposal("element.fewer", weight, ((start, end, ""),), f"drop {shorten(part.text)}")


def other(node: Node, place: Place) -> Iterator[Proposal]:
    """`"k": 3` → `"k": 4`, and the row gone, where the failing test hands in that key."""
    key, value = node.get("key"), node.get("value")
    if key is None or value is None or literal(key) not in place.hints.examples.given[:20]:
        return
    for wanted in place.hints.examples.expected[:8]:
        if type(wanted) in (str, int, float, bool, list, tuple) and type(wanted) is type(literal(value)):
            yield put("element.other", value, written(value, wanted), 1.0)
    if value.kind in {"integer", "float"}:
        for number, weight in best(numbers(place.hints), VALUES):
            yield put("element.other", value, written(value, number), 0.8 * weight)
    if value.kind in {"identifier", "attribute"}:
        for pair in node.parent.parts if node.parent is not None else ():
            sibling = pair.get("value")
            if sibling is not None and sibling.text != value.text and sibling.kind == value.kind:
                yield put("element.other", value, sibling.text, 0.5)


def words(node: Node, place: Place) -> Iterator[Proposal]:
    """`"a b".split()` → `"a b c".split()`; letters that the failing test hands in put to `"aeiou"`."""
    value = literal(node)
    parent = node.parent
    if not isinstance(value, str) or parent is None or "\n" in value or node.text[:1] not in "'\"":
        return
    attribute = parent.get("attribute") if parent.kind == "attribute" else None
    if attribute is not None and attribute.text in _SPLITTING and len(value.split()) > 1:
        held = value.split()
        for text, weight in _fresh(texts(place.hints), held):
            yield put("element.more", node, written(node, f"{value} {text}"), weight)
            if held == sorted(held):
                yield put("element.more", node, written(node, " ".join(sorted([*held, str(text)]))), weight)
    elif 1 <= len(value) <= 60 and len(set(value)) == len(value) and _letters(node, place):
        shown = "".join(v for v in place.hints.examples.given[:12] if isinstance(v, str))
        fresh = [c for c in dict.fromkeys(shown) if c not in value]
        alike = [c for c in fresh if any(c.isalnum() == v.isalnum() for v in value)]
        for letter in alike[:10]:
            yield put("element.more", node, written(node, value + letter), 0.5)


def _letters(node: Node, place: Place) -> bool:
    """Whether a string stands for its letters: looked into by `in`, stripped, a constant."""
    parent = node.parent
    if parent is None:
        return False
    if parent.kind == "comparison_operator":
        return node is parent.parts[-1] and any(c.kind in {"in", "not in"} for c in parent.children)
    if parent.kind == "argument_list" and parent.parent is not None:
        function = parent.parent.get("function")
        return function is not None and function.text.rpartition(".")[2] in {
            "strip",
            "lstrip",
            "rstrip",
            "set",
            "frozenset",
        }
    return parent.kind == "assignment" and place.function is None


TABLE: Table = {
    "list": (more, fewer),
    "set": (more, fewer),
    "tuple": (more, fewer),
    "dictionary": (more, fewer),
    "pair": (other,),
    "string": (words,),
}
