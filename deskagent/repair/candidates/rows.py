"""Several rows of a table at once, where the failing tests' own calls show keys that it lacks and what they give.

What the calls give may be the row's value put into other text and a count put into it: `3 weeks ago` for `{0} weeks`.
Both are learnt from calls that work and rows that are there.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping

from deskagent.repair.asked import Call
from deskagent.repair.candidates.base import Place, Proposal, Table
from deskagent.repair.candidates.shown import literal, written
from deskagent.repair.nodes import Node

_HOLES = ("{0}", "{}", "{n}", "{count}", "%d", "%s")
_MOST_ROWS, _LEAST_HELD, _LONGEST = 24, 2, 200
Row = tuple[str, object]


def rows(node: Node, place: Place) -> Iterator[Proposal]:
    """`{"day": "a day"}` → with `"week": "a week"` and `"weeks": "{0} weeks"` in it."""
    pairs = [part for part in node.parts if part.kind == "pair"]
    held: dict[str, Node] = {}
    for part in pairs:
        key, value = part.get("key"), part.get("value")
        if key is not None and value is not None and key.kind == "string":
            held[str(literal(key))] = value
    if len(held) < _LEAST_HELD or len(held) != len(node.parts):
        return
    plain = {
        key: text for key, value in held.items() if isinstance(text := literal(value), (str, int, float))
    }
    asked = place.hints.asked
    hole = next((h for h in _HOLES for text in plain.values() if h in str(text)), "")
    frames = _frames([*asked.passing, *asked.failing], plain, hole)
    found: dict[str, object] = {}
    changed: dict[str, object] = {}
    after: dict[str, str] = {}
    previous, agreed = "", 0
    for call in asked.failing:
        key = _key(call, held, plain)
        if not key:
            continue
        if key in held:
            previous = key
        value = _value(call, key, frames, hole)
        if value is None:
            continue
        if key not in held:
            found.setdefault(key, value)
            after.setdefault(key, previous)
        elif key in plain and value != plain[key] and type(value) is type(plain[key]):
            changed.setdefault(key, value)
        else:
            agreed += 1
    if len(changed) > agreed + 1:
        return  # another table is meant
    kinds = Counter(type(value) for value in plain.values())
    found = {k: v for k, v in [*found.items()][:_MOST_ROWS] if type(v) in kinds}
    if found:
        yield _together(node, pairs, {key: after[key] for key in found}, found, place)
    if changed and len(changed) <= _MOST_ROWS:
        edits = tuple((held[k].start, held[k].end, written(held[k], v)) for k, v in changed.items())
        yield Proposal(
            "element.rows", 0.8, tuple(sorted(edits)), f"{len(changed)} rows as the tests want them"
        )
        for edit in edits if len(edits) > 1 else ():
            yield Proposal("element.rows", 0.4, (edit,), f"a row: {edit[2]}")


def _key(call: Call, held: dict[str, Node], plain: Mapping[str, object]) -> str:
    """The argument that is a key of the table, or looks as if it were one."""
    texts = [
        v for v in (*call.values, *call.keywords.values()) if isinstance(v, str) and 0 < len(v) <= _LONGEST
    ]
    known = next((text for text in texts if text in held), "")
    return known or (texts[0] if len(texts) == 1 and type(call.result) in map(type, plain.values()) else "")


def _numbers(call: Call) -> list[str]:
    return [str(v) for v in (*call.values, *call.keywords.values()) if type(v) in (int, float)]


def _frames(calls: list[Call], plain: Mapping[str, object], hole: str) -> list[tuple[str, str]]:
    """(before, after): what stands around a row's value in what calls give, the most frequent first."""
    found: Counter[tuple[str, str]] = Counter()
    for call in calls:
        if not isinstance(call.result, str):
            continue
        for text in call.values:
            value = plain.get(text) if isinstance(text, str) else None
            if not isinstance(value, str):
                continue
            for number in _numbers(call) or [""]:
                inner = value.replace(hole, number.lstrip("-")) if hole else value
                before, middle, rest = call.result.partition(inner or "\0")
                if middle:
                    found[before, rest] += 1
    return [frame for frame, _ in found.most_common(4)]


def _value(call: Call, key: str, frames: list[tuple[str, str]], hole: str) -> object:
    """The row's value behind what a call should give; None where that can't be told."""
    result = call.result
    if isinstance(result, int | float) and not isinstance(result, bool):
        return result
    if not isinstance(result, str) or len(result) > _LONGEST:
        return None
    for before, after in frames:
        if (before or after) and result.startswith(before) and result.endswith(after):
            result = result[len(before) : len(result) - len(after)]
            break
    for number in _numbers(call) if hole else ():
        count = number.lstrip("-")
        if count in result and (count != "1" or key.endswith("s")):
            return result.replace(count, hole, 1)
    return result


def _together(
    node: Node, pairs: list[Node], after: dict[str, str], found: dict[str, object], place: Place
) -> Proposal:
    """All rows in one edit for each place where some belong: after the row that the tests ask for before them."""
    at_key = {str(literal(key)): i for i, part in enumerate(pairs) if (key := part.get("key")) is not None}
    places = {key: at_key.get(after[key], len(pairs) - 1) for key in found}
    for one in sorted(set(places.values())):  # tests often ask for all singulars before the plurals
        if one + 1 in places.values():
            places = {key: one + 1 if at == one else at for key, at in places.items()}
    spots: dict[int, list[str]] = {}
    for key, index in places.items():
        spots.setdefault(pairs[index].end, []).append(key)
    rows = len(pairs) > 1 and pairs[-1].row > pairs[-2].row
    gap = f"\n{node.syntax.indent(pairs[-1])}" if rows else " "
    like = pairs[-1]
    head, value = like.get("key") or like, like.get("value") or like
    edits = tuple(
        (at, at, "".join(f",{gap}{written(head, key)}: {written(value, found[key])}" for key in keys))
        for at, keys in sorted(spots.items())
    )
    weight = 1.0 if len(found) > 1 else 0.6
    names = ", ".join(found)
    return Proposal("element.rows", weight, edits, f"add rows {names[:60]}")


TABLE: Table = {"dictionary": (rows,)}
