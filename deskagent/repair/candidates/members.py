"""Attributes and methods: one taken for another, a call left out or too many."""

from __future__ import annotations

from collections.abc import Iterator

from deskagent.repair.candidates.base import Place, Proposal, Table, arguments, put, replace, similarity
from deskagent.repair.nodes import Node

# Methods and attributes of built-in and common types taken for each other.
SWAPS: dict[str, tuple[str, ...]] = {
    "append": ("extend", "insert", "add"),
    "extend": ("append", "update"),
    "add": ("update", "discard", "append"),
    "update": ("add", "extend", "setdefault"),
    "keys": ("values", "items"),
    "values": ("keys", "items"),
    "items": ("values", "keys"),
    "startswith": ("endswith",),
    "endswith": ("startswith",),
    "lower": ("upper", "casefold"),
    "upper": ("lower", "title"),
    "strip": ("lstrip", "rstrip"),
    "lstrip": ("strip", "rstrip"),
    "rstrip": ("strip", "lstrip"),
    "find": ("rfind", "index"),
    "rfind": ("find", "rindex"),
    "index": ("rindex", "find"),
    "rindex": ("index", "rfind"),
    "split": ("rsplit", "splitlines", "partition"),
    "rsplit": ("split",),
    "partition": ("rpartition", "split"),
    "rpartition": ("partition", "rsplit"),
    "encode": ("decode",),
    "decode": ("encode",),
    "remove": ("discard", "pop"),
    "discard": ("remove", "add"),
    "pop": ("popleft", "get", "remove"),
    "popleft": ("pop",),
    "appendleft": ("append",),
    "union": ("intersection", "difference", "update"),
    "intersection": ("union", "difference"),
    "difference": ("intersection", "symmetric_difference", "union"),
    "issuperset": ("issubset",),
    "issubset": ("issuperset",),
    "match": ("search", "fullmatch"),
    "search": ("match", "fullmatch"),
    "fullmatch": ("match", "search"),
    "findall": ("finditer",),
    "group": ("groups",),
    "groups": ("group",),
    "read": ("readlines", "readline"),
    "readline": ("read", "readlines"),
    "readlines": ("read", "readline"),
    "write": ("writelines",),
    "min": ("max",),
    "max": ("min",),
    "get": ("pop", "setdefault"),
    "setdefault": ("get",),
    "floor": ("ceil",),
    "ceil": ("floor",),
    "isdigit": ("isnumeric", "isalpha", "isalnum"),
    "isalpha": ("isalnum", "isdigit"),
    "isalnum": ("isalpha", "isdigit", "isidentifier"),
    "isupper": ("islower",),
    "islower": ("isupper",),
    "title": ("capitalize",),
    "capitalize": ("title", "upper"),
    "sort": ("reverse",),
    "reverse": ("sort",),
    "copy": ("deepcopy",),
    "deepcopy": ("copy",),
    "exists": ("isfile", "isdir", "is_file"),
    "isfile": ("exists", "isdir"),
    "isdir": ("exists", "isfile"),
    "is_file": ("exists", "is_dir"),
    "is_dir": ("exists", "is_file"),
    "ljust": ("rjust",),
    "rjust": ("ljust",),
    "total_seconds": ("seconds",),
    "seconds": ("total_seconds()",),
    "utcnow": ("now",),
    "now": ("utcnow",),
    "dumps": ("dump",),
    "loads": ("load",),
    "sub": ("subn",),
    "left": ("right",),
    "right": ("left",),
    "start": ("end", "stop"),
    "end": ("start",),
    "stop": ("start",),
    "width": ("height",),
    "height": ("width",),
    "rows": ("columns",),
    "columns": ("rows",),
    "first": ("last",),
    "last": ("first",),
    "next": ("prev", "previous"),
    "prev": ("next",),
    "parent": ("parents", "children"),
    "x": ("y",),
    "y": ("x",),
    "name": ("stem", "path"),
    "stem": ("name",),
    "predecessor": ("successor",),
    "successor": ("predecessor",),
}


def attributes(node: Node, place: Place) -> Iterator[Proposal]:
    """`.append` → `.extend`; `.a` → another attribute of the same object, class, file or related file."""
    attribute, owner = node.get("attribute"), node.get("object")
    if attribute is None or owner is None:
        return
    old = attribute.text
    parent = node.parent
    called = parent is not None and parent.kind == "call" and node.field == "function"
    for rank, new in enumerate(SWAPS.get(old, ())):
        yield put("member.swap", attribute, new, 1.0 if rank == 0 else 0.5)
    same, near = _uses(place, owner.text, called)
    for new in sorted(same | near | place.attributes):
        if new == old or new in SWAPS.get(old, ()) or new.startswith("__"):
            continue
        alike = similarity(new, old)
        base = 0.5 if new in same else 0.3 if new in near else 0.1
        weight = base + (0.5 if new in same else 0.6) * alike
        if new in place.hints.meant:
            weight = 1.0
        if weight > 0.25:
            yield put("member.attribute", attribute, new, min(1.0, weight))


def _uses(place: Place, owner: str, called: bool) -> tuple[set[str], set[str]]:
    """Attributes used on the same object, and on any in the file, in the same way: called or not."""
    uses = place.syntax.attribute_uses
    same = set(uses.get((owner, called), ()))
    near = set(uses.get(("", called), ()))
    owner_class = next((n for n in place.statement.ancestors() if n.kind == "class_definition"), None)
    body = owner_class.get("body") if owner_class is not None and owner == "self" and called else None
    for part in body.parts if body is not None else ():
        method = part.get("definition") if part.kind == "decorated_definition" else part
        name = method.get("name") if method is not None else None
        if name is not None and method is not None and method.kind == "function_definition":
            same.add(name.text)
    return same, near


def calling(node: Node, place: Place) -> Iterator[Proposal]:
    """`x.items` → `x.items()`; `x.items()` → `x.items`."""
    parent = node.parent
    if node.kind == "attribute":
        if (
            parent is not None
            and not (parent.kind == "call" and node.field == "function")
            and parent.kind != "attribute"
            and node.field != "left"
        ):
            attribute = node.get("attribute")
            known = attribute is not None and attribute.text in SWAPS
            yield put("member.call", node, f"{node.text}()", 1.0 if known else 0.3)
        return
    function = node.get("function")
    if function is not None and function.kind == "attribute" and not arguments(node):
        yield put("member.uncall", node, function.text, 0.5)
    if function is not None and function.kind == "attribute":
        owner = function.get("object")
        if owner is not None:
            yield put("member.drop", node, owner.text, 0.7 if not arguments(node) else 0.5)


def rebinding(node: Node, place: Place) -> Iterator[Proposal]:
    """`x.update(y)` → `x = y`, `x.sort()` → `x = sorted(x)`; `f(x)` alone → `x = f(x)`."""
    statement = node.parent
    if statement is None or statement.kind != "expression_statement":
        return
    function, given = node.get("function"), arguments(node)
    if function is None or function.kind != "attribute":
        if given and given[0].kind == "identifier":
            yield replace("member.rebind", node, node, f"{given[0].text} = {node.text}", 0.6)
        return
    owner, attribute = function.get("object"), function.get("attribute")
    if owner is None or attribute is None or owner.kind not in {"identifier", "attribute", "subscript"}:
        return
    if attribute.text in {"update", "extend", "append", "add", "union"} and len(given) == 1:
        yield replace("member.rebind", node, node, f"{owner.text} = {given[0].text}", 0.5)
        if attribute.text == "extend":
            yield replace("member.rebind", node, node, f"{owner.text} = {given[0].text} + {owner.text}", 0.2)
    if attribute.text in {
        "replace",
        "strip",
        "lower",
        "upper",
        "lstrip",
        "rstrip",
        "union",
        "difference",
        "intersection",
        "format",
        "title",
        "encode",
        "decode",
        "join",
    }:
        yield replace("member.rebind", node, node, f"{owner.text} = {node.text}", 1.0)


TABLE: Table = {"attribute": (attributes, calling), "call": (calling, rebinding)}
