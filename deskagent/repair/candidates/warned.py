"""A warning that the failing test wants and the code doesn't give: `warnings.warn(…)` first in a function."""

from __future__ import annotations

from collections.abc import Iterator

from deskagent.repair.candidates.base import Place, Proposal, Table
from deskagent.repair.candidates.blocks import first_in, opens
from deskagent.repair.candidates.importing import added, lines
from deskagent.repair.candidates.known import owner_of
from deskagent.repair.hints import Hints
from deskagent.repair.nodes import Node

_LISTENING = frozenset(
    {"catch_warnings", "warns", "deprecated_call", "assertWarns", "assertWarnsRegex", "recwarn"}
)
_TEXTS = 3


def _categories(hints: Hints) -> Iterator[tuple[str, float]]:
    """The warnings that may be missing. One that stopped the test is there already."""
    came = tuple(error.partition(":")[0].rpartition(".")[2] for error in hints.examples.errors)
    named = [n for n in sorted(hints.exceptions) if n.endswith("Warning") and n not in came]
    yield from ((name, 1.0) for name in named)
    asked = "deprecat" in hints.said.lower()
    if not named and (asked or hints.message & _LISTENING):
        yield "DeprecationWarning", 1.0 if asked else 0.4
        if not asked:
            yield "UserWarning", 0.3


def warned(node: Node, place: Place) -> Iterator[Proposal]:
    """`warnings.warn("f is deprecated", DeprecationWarning, stacklevel=2)` as the function's first statement."""
    function = place.function if node.kind != "function_definition" else node
    name = function.get("name") if function is not None else None
    if function is None or name is None or not opens(node, function):
        return
    owner = owner_of(function)
    title = owner.get("name") if owner is not None and name.text == "__init__" else name
    said = sorted(
        t for t in place.hints.literals if "deprecat" in t.lower() and '"' not in t and "\\" not in t
    )
    for category, weight in _categories(place.hints):
        if category not in place.names and not category.startswith(_BUILT_IN):
            continue
        plain = "is deprecated" if "Deprecat" in category else "may not do what is meant"
        texts = [*said[:_TEXTS], f"{title.text if title is not None else name.text} {plain}"]
        for index, text in enumerate(texts):
            yield from _given(function, place, category, text, weight * 0.9**index)


_BUILT_IN = ("Deprecation", "PendingDeprecation", "Future", "User", "Runtime", "Syntax", "Resource", "Unicode",
             "Bytes", "Import")  # fmt: skip


def _given(function: Node, place: Place, category: str, text: str, weight: float) -> Iterator[Proposal]:
    module = "warnings" in place.names
    call = "warn" if "warn" in place.names and not module else "warnings.warn"
    made = first_in("guard.warned", function, f'{call}("{text}", {category}, stacklevel=2)', weight)
    if made is None:
        return
    if module or call == "warn":
        yield made
        return
    if lines(place.syntax):
        edits = (added("import warnings", place.syntax), *made.edits)
        yield Proposal("guard.warned", weight, edits, made.note)
    else:
        both = f'import warnings\n\nwarnings.warn("{text}", {category}, stacklevel=2)'
        within = first_in("guard.warned", function, both, weight)
        if within is not None:
            yield within


TABLE: Table = {"statement": (warned,)}
