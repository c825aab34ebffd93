"""Tool schemas for servers that take only simple ones.

Rules as Moonshot's validator reports them: every node is an object with a type, `anyOf` has the types in its items and
none beside it, `$ref` has nothing beside it, tuples are `prefixItems`, the root is an object.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

_TYPES: tuple[tuple[type, str], ...] = (
    (bool, "boolean"),  # before int, of which it is one
    (int, "integer"),
    (float, "number"),
    (str, "string"),
    (list, "array"),
    (dict, "object"),
    (type(None), "null"),
)
_DEFS = ("$defs", "definitions", "$schema")
_OPTIONS = ("anyOf", "oneOf", "allOf", *_DEFS)
_ABOUT = ("title", "description", "default")


def plain(schema: Mapping[str, Any]) -> dict[str, Any]:
    """`schema` with the same meaning, or a wider one, in the simple form."""
    defs = {**schema.get("definitions", {}), **schema.get("$defs", {})}
    found = _node({key: value for key, value in schema.items() if key not in _DEFS}, defs, ())
    found.pop("anyOf", None)
    return {**found, "type": "object", "properties": found.get("properties", {})}


def _node(node: Any, defs: Mapping[str, Any], within: tuple[str, ...]) -> dict[str, Any]:
    """within: the definitions that this is a part of; one that holds itself is cut off there."""
    if not isinstance(node, Mapping):
        return {"type": "string"}
    if isinstance(ref := node.get("$ref"), str):
        name = ref.rpartition("/")[2]
        target = defs.get(name)
        if name in within or not isinstance(target, Mapping):
            return {"type": "object"}
        beside = {key: value for key, value in node.items() if key != "$ref"}
        return _node({**target, **beside}, defs, (*within, name))
    found = _children(node, defs, within)
    options = node.get("anyOf") or node.get("oneOf")
    kind = found.get("type")
    if isinstance(kind, list):
        options = [{**found, "type": one} for one in kind]
        found = {key: found[key] for key in _ABOUT if key in found}
        kind = None
    if not options:
        return found if isinstance(kind, str) else {**found, "type": _guess(found)}
    above = {"type": kind} if kind else {}
    items = [_node({**above, **one} if isinstance(one, Mapping) else one, defs, within) for one in options]
    return {**{key: value for key, value in found.items() if key != "type"}, "anyOf": items}


def _children(node: Mapping[str, Any], defs: Mapping[str, Any], within: tuple[str, ...]) -> dict[str, Any]:
    """The node with all below it in the simple form, without its options."""
    found = {key: value for key, value in node.items() if key not in _OPTIONS}
    if isinstance(properties := found.get("properties"), Mapping):
        found["properties"] = {name: _node(value, defs, within) for name, value in properties.items()}
    if isinstance(found.get("items"), list):
        found["prefixItems"] = found.pop("items")
    if isinstance(tuples := found.get("prefixItems"), list):
        found["prefixItems"] = [_node(item, defs, within) for item in tuples]
    if found.get("items") is False:
        del found["items"]
    for key in ("items", "additionalProperties"):
        if key in found and not (key == "additionalProperties" and isinstance(found[key], bool)):
            found[key] = _node(found[key], defs, within)
    for part in node.get("allOf", ()):
        found = {**_node(part, defs, within), **found}
    return found


def _guess(node: Mapping[str, Any]) -> str:
    """The type of a node that doesn't say."""
    if "properties" in node or "additionalProperties" in node:
        return "object"
    if "items" in node or "prefixItems" in node:
        return "array"
    values = node.get("enum") or [node[key] for key in ("const", "default") if node.get(key) is not None]
    for kind, name in _TYPES:
        if values and isinstance(values[0], kind):
            return name
    return "string"
