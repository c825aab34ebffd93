"""Values of another kind than a statement can take: made what is wanted first, or turned away."""

from __future__ import annotations

from collections.abc import Iterator

from deskagent.repair.candidates.base import Place, Proposal, Table
from deskagent.repair.candidates.blocks import alone, before, first_in, opens
from deskagent.repair.candidates.dispatch import named_kinds
from deskagent.repair.candidates.known import owner_of
from deskagent.repair.nodes import Node
from deskagent.repair.syntax import CLAUSES

# kind → what a value {0} of it is turned into by those who then go on
COERCED = {
    "bytes": ("{0}.decode()", '{0}.decode("utf-8")'), "list": ("{0}[0]", "tuple({0})", '", ".join({0})'),
    "tuple": ("list({0})", "{0}[0]"), "str": ("[{0}]", "({0},)", "{0}.encode()", "int({0})", "float({0})"),
    "int": ("str({0})", "[{0}]", "float({0})"), "float": ("str({0})", "int({0})"), "dict": ("[{0}]", "list({0})"),
    "set": ("list({0})", "sorted({0})"), "generator": ("list({0})",), "PosixPath": ("str({0})",), "bool": ("int({0})",),
    "map": ("list({0})",), "dict_keys": ("list({0})",), "dict_values": ("list({0})",), "range": ("list({0})",),
}  # fmt: skip
_COMPARING = frozenset(
    {"__eq__", "__ne__", "__lt__", "__le__", "__gt__", "__ge__", "__add__", "__sub__", "__mul__"}
)


def coerce(node: Node, place: Place) -> Iterator[Proposal]:
    """Before a statement that fails on a kind of value: `if isinstance(x, list): x = x[0]`."""
    if (
        place.function is None
        or node.kind in CLAUSES
        or not alone(node)
        or node.kind == "function_definition"
    ):
        return
    errors = place.hints.examples.errors
    if not any(error.startswith(("AttributeError", "TypeError")) for error in errors):
        return
    named = [kind for kind in named_kinds(errors) if kind in COERCED]
    own = list(dict.fromkeys(n.text for n in place.nodes if n.kind == "identifier"))
    names = [place.names[text] for text in own if text in place.names]
    for kind in sorted(named):
        for name in names[:4]:
            if name.origin not in {"parameter", "local", "loop"}:
                continue
            used = any(f"'{attribute}'" in error for attribute in name.attributes for error in errors)
            for index, made in enumerate(COERCED[kind]):
                weight = (1.0 if used else 0.5) * 0.8**index
                test = {"PosixPath": "Path"}.get(kind, kind)
                if test in {"generator", "map", "dict_keys", "dict_values", "Path"}:
                    lines = f"{name.text} = {made.format(name.text)}"
                else:
                    new = f"{name.text} = {made.format(name.text)}"
                    lines = f"if isinstance({name.text}, {test}):\n{place.syntax.unit}{new}"
                done = before("guard.coerce", node, lines, weight)
                if done is not None:
                    yield done


def foreign(node: Node, place: Place) -> Iterator[Proposal]:
    """In `__eq__` and its like: `if not isinstance(other, C): return NotImplemented` first."""
    function, owner = place.function, owner_of(node)
    name, title = (n.get("name") if n is not None else None for n in (function, owner))
    if function is None or name is None or title is None or name.text not in _COMPARING:
        return
    signature = function.get("parameters")
    if signature is None or len(signature.parts) != 2 or not opens(node, function):
        return
    other = signature.parts[1].text.partition(":")[0]
    if f"isinstance({other}" in function.text:
        return
    for test in (title.text, "type(self)"):
        for index, result in enumerate(("NotImplemented", "True" if name.text == "__ne__" else "False")):
            lines = f"if not isinstance({other}, {test}):\n{place.syntax.unit}return {result}"
            made = first_in(
                "guard.foreign", function, lines, (1.0 if test == title.text else 0.4) * 0.9**index
            )
            if made is not None:
                yield made


TABLE: Table = {"statement": (coerce, foreign)}
