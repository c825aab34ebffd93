"""Text taken apart: too many or too few parts to unpack, lines, the last part for the first."""

from __future__ import annotations

from collections.abc import Iterator

from deskagent.repair.candidates.base import Place, Proposal, Table, arguments, called_name, put, replace
from deskagent.repair.nodes import Node

_NEW_LINES = frozenset({r"'\n'", r'"\n"'})
_PARTED = {"split": "partition", "rsplit": "rpartition"}


def unpacked(node: Node, place: Place) -> Iterator[Proposal]:
    """`a, b = s.split(":")` → `a, b = s.split(":", 1)`, `s.rsplit(":", 1)`, `a, _, b = s.partition(":")`."""
    left, right = node.get("left"), node.get("right")
    if (
        left is None
        or right is None
        or right.kind != "call"
        or left.kind not in {"pattern_list", "tuple_pattern"}
    ):
        return
    function, given, name = right.get("function"), arguments(right), called_name(right)
    method = function.get("attribute") if function is not None and function.kind == "attribute" else None
    targets = left.parts
    if name not in _PARTED or method is None or not given or given[0].kind == "keyword_argument":
        return
    errors = " ".join(place.hints.examples.errors)
    many, few = "too many values to unpack" in errors, "not enough values to unpack" in errors
    said = 1.0 if many or few else 0.25
    if len(given) == 1:
        most = str(len(targets) - 1)
        for new, weight in ((name, 1.0), ("rsplit" if name == "split" else "split", 0.7)):
            edits = ((method.start, method.end, new), (given[0].end, given[0].end, f", {most}"))
            kept = edits[1:] if new == name else edits
            yield Proposal(
                "text.apart", said * weight * (0.4 if few else 1.0), kept, f"{new} at {most} places only"
            )
    if len(targets) == 2:
        middle = (targets[0].end, targets[0].end, ", _")
        cut = () if len(given) == 1 else ((given[0].end, given[-1].end, ""),)
        for new, weight in ((_PARTED[name], 1.0), ("partition" if name == "rsplit" else "rpartition", 0.4)):
            edits = (middle, (method.start, method.end, new), *cut)
            yield Proposal(
                "text.apart",
                said * weight * (0.7 if many else 1.0),
                edits,
                f"{name} → {new}, which always has three",
            )


def lines(node: Node, place: Place) -> Iterator[Proposal]:
    """`s.split("\\n")` → `s.splitlines()` and back; `s.split(" ")` → `s.split()`."""
    function, given = node.get("function"), arguments(node)
    owner = function.get("object") if function is not None and function.kind == "attribute" else None
    if function is None or owner is None:
        return
    name = called_name(node)
    if name == "split" and len(given) == 1 and given[0].text in _NEW_LINES:
        yield put("text.apart", node, f"{owner.text}.splitlines()", 0.7)
    elif name == "splitlines" and not given:
        yield put("text.apart", node, f'{owner.text}.split("\\n")', 0.6)
    elif name == "split" and len(given) == 1 and given[0].text in {"' '", '" "'}:
        yield replace("text.apart", given[0], given[0], "", 0.8)


TABLE: Table = {"assignment": (unpacked,), "call": (lines,)}
