"""Rules that several servers share."""

from __future__ import annotations

import base64
import binascii
import json
import re
from collections.abc import Iterable, Mapping
from typing import Any

_TYPES = frozenset({"string", "number", "integer", "boolean", "array", "object", "null"})
_NAME = re.compile("[a-zA-Z0-9_-]{1,64}")
EFFORTS = ("reasoning_effort", "thinking_budget", "thinking_budget_tokens", "reasoning", "thinking")


class Rejected(Exception):
    """A 400."""


def need(holds: object, message: str) -> None:
    if not holds:
        raise Rejected(message)


def clean_json(body: bytes) -> None:
    """As strict parsers have it: UTF-8, no NaN, no half of a surrogate pair, no key twice."""

    def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        need(len({key for key, _ in pairs}) == len(pairs), "a key stands twice in an object")
        return dict(pairs)

    def refuse(name: str) -> None:
        raise Rejected(f"{name} is no JSON")

    try:
        found = json.loads(body.decode("utf-8"), object_pairs_hook=once, parse_constant=refuse)
        json.dumps(found, ensure_ascii=False).encode("utf-8")
    except (UnicodeError, ValueError) as error:
        raise Rejected(f"The request body is not valid JSON: {error}") from None


def only(given: Mapping[str, Any], known: Iterable[str], where: str) -> None:
    extra = set(given) - set(known)
    need(not extra, f"{where}: {sorted(extra)}: Extra inputs are not permitted")


def tool_name(name: Any, where: str) -> None:
    need(
        isinstance(name, str) and _NAME.fullmatch(name),
        f"Invalid '{where}': string does not match pattern {name!r}",
    )


def json_object(text: Any, where: str) -> None:
    """Templates parse a call's arguments."""
    need(isinstance(text, str), f"{where}: Input should be a valid string")
    try:
        clean_json(text.encode("utf-8"))
        found = json.loads(text)
    except (Rejected, UnicodeError):
        raise Rejected(f"{where}: Failed to parse tool call arguments as JSON") from None
    need(isinstance(found, dict), f"{where}: Can only get item pairs from a mapping")


def base64_data(text: Any, where: str) -> None:
    try:
        need(text and base64.b64decode(text, validate=True), f"{where}: image is empty")
    except (binascii.Error, ValueError, TypeError):
        raise Rejected(f"{where}: invalid base64 data") from None


def object_schema(schema: Any, where: str) -> None:
    need(
        isinstance(schema, dict) and schema.get("type") == "object", f"{where}: schema must be of type object"
    )


def plain_schema(node: Any, path: str = "root") -> None:
    """Moonshot's flavour of JSON schema."""
    need(isinstance(node, dict), f"At path '{path}': property schema must be an object")
    if "$ref" in node:
        need(set(node) == {"$ref"}, f"At path '{path}': conflicting keywords found after $ref expansion")
        need(node["$ref"].startswith("#/$defs/"), f"At path '{path}': references must start with #/$defs/")
        return
    if "anyOf" in node:
        need("type" not in node, f"At path '{path}': when using anyOf, type should be defined in anyOf items")
        for number, option in enumerate(node["anyOf"]):
            plain_schema(option, f"{path}.anyOf.{number}")
        return
    need("oneOf" not in node and "allOf" not in node, f"At path '{path}': unsupported keyword")
    need(node.get("type") in _TYPES, f"At path '{path}': type is not defined")
    for name, value in (node.get("properties") or {}).items():
        plain_schema(value, f"{path}.properties.{name}")
    if "items" in node:
        plain_schema(node["items"], f"{path}.items")
    for number, value in enumerate(node.get("prefixItems", ())):
        plain_schema(value, f"{path}.prefixItems.{number}")
