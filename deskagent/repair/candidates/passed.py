"""Parameters that a function was handed and doesn't hand on to the one that it calls for them; files opened for text
where bytes are written, and the other way round."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping

from deskagent.repair.candidates.base import (
    BUILTINS,
    Place,
    Proposal,
    Table,
    arguments,
    called_name,
    handed,
    put,
)
from deskagent.repair.nodes import Node

_STARS = {"list_splat_pattern": "*", "dictionary_splat_pattern": "**"}
# function → keywords that callers often want to say for themselves
_TAKES: Mapping[str, tuple[str, ...]] = {
    "sorted": ("key", "reverse"), "sort": ("key", "reverse"), "max": ("key", "default"), "min": ("key", "default"),
    "open": ("mode", "encoding", "errors", "newline"), "read_text": ("encoding", "errors"),
    "write_text": ("encoding", "errors"), "decode": ("encoding", "errors"), "encode": ("encoding", "errors"),
    "dumps": ("indent", "default", "sort_keys", "separators", "cls"), "enumerate": ("start",), "sum": ("start",),
    "dump": ("indent", "default", "sort_keys", "separators", "cls"), "loads": ("cls", "object_hook"),
    "split": ("sep", "maxsplit"), "rsplit": ("sep", "maxsplit"), "print": ("sep", "end", "file", "flush"),
    "zip": ("strict",), "round": ("ndigits",), "int": ("base",), "groupby": ("key",), "nlargest": ("key",),
    "nsmallest": ("key",), "compile": ("flags",), "sub": ("count", "flags"), "findall": ("flags",),
    "run": ("env", "cwd", "timeout", "check", "input"), "Popen": ("env", "cwd", "shell"), "warn": ("stacklevel",),
    "bisect_left": ("key",), "bisect_right": ("key",), "deepcopy": ("memo",), "deque": ("maxlen",),
    "wrap": ("width",), "fill": ("width",), "now": ("tz",), "fromtimestamp": ("tz",),
}  # fmt: skip
_OPENS = frozenset(
    {"open", "fdopen", "NamedTemporaryFile", "TemporaryFile", "SpooledTemporaryFile", "makefile"}
)
_MODE = re.compile(r"[rwax]\+?[bt]?\+?\Z")
_TEXT_HANDED = re.compile(r"bytes-like object is required, not 'str'|must be bytes|not 'str'")
_BYTES_HANDED = re.compile(r"must be str, not bytes|not bytes|can't decode byte")


def handed_on(node: Node, place: Place) -> Iterator[Proposal]:
    """`super().load(path)` → `super().load(path, strict=strict)`, `…, **kwargs)`, in a method `load` that was handed
    them; likewise where a function calls its namesake."""
    function, bracket = place.function, node.get("arguments")
    own = function.get("name") if function is not None else None
    if function is None or own is None or bracket is None or bracket.kind != "argument_list":
        return
    called = node.get("function")
    over = called is not None and called.text.startswith("super(")
    if called_name(node) != own.text and not (over and called_name(node)):
        return
    held = {part.text for one in arguments(node) for part in one.walk() if part.kind == "identifier"}
    signature = function.get("parameters")
    missing: list[str] = []
    for part in signature.parts if signature is not None else ():
        name = next((n for n in part.walk() if n.kind == "identifier"), None)
        if name is None or name.text in {"self", "cls"} or name.text in held:
            continue
        stars = _STARS.get(part.kind, "")
        texts = [f"{stars}{name.text}"] if stars else [f"{name.text}={name.text}", name.text]
        missing.append(texts[0])
        for rank, text in enumerate(texts):
            weight = (1.0 if stars or not rank else 0.7) * (1.0 if called_name(node) == own.text else 0.4)
            yield _hand_on(node, text, weight)
    if len(missing) > 1:
        yield _hand_on(node, ", ".join(missing), 0.8)


def by_own_name(node: Node, place: Place) -> Iterator[Proposal]:
    """`sorted(rows)` → `sorted(rows, key=key)`, in a function that has a parameter called so."""
    bracket = node.get("arguments")
    if bracket is None or bracket.kind != "argument_list" or place.function is None:
        return
    held = {part.text for one in arguments(node) for part in one.walk() if part.kind == "identifier"}
    for word in _TAKES.get(called_name(node), ()):
        name = place.names.get(word)
        if name is not None and name.origin in {"parameter", "local"} and word not in held:
            yield _hand_on(node, f"{word}={word}", 1.0)


def _hand_on(node: Node, text: str, weight: float) -> Proposal:
    return Proposal("call.passed", weight, (handed(node, text),), f"hand {text} on to {called_name(node)}")


def starred(node: Node, place: Place) -> Iterator[Proposal]:
    """`f(args, kwargs)` → `f(*args, **kwargs)`, where the function gathers them so."""
    signature = place.function.get("parameters") if place.function is not None else None
    gathered = {
        part.parts[0].text: _STARS[part.kind]
        for part in (signature.parts if signature is not None else ())
        if part.kind in _STARS and part.parts
    }
    plain = [part for part in arguments(node) if part.kind == "identifier" and part.text in gathered]
    if not plain or called_name(node) in BUILTINS:
        return
    edits = tuple((part.start, part.end, gathered[part.text] + part.text) for part in plain)
    if len(edits) == 1 and not edits[0][2].startswith("**"):
        return  # `call.star`
    texts = ", ".join(new for _, _, new in edits)
    yield Proposal("call.passed", 0.9, edits, f"hand {texts} on to {called_name(node)}")


def mode(node: Node, place: Place) -> Iterator[Proposal]:
    """`open(path, "wb")` → `open(path, "w")`, `"r"` → `"rb"`, as the error speaks of text or bytes."""
    if called_name(node) not in _OPENS:
        return
    errors = " ".join(place.hints.examples.errors)
    for part in arguments(node):
        value = part.get("value") if part.kind == "keyword_argument" else part
        name = part.parts[0].text if part.kind == "keyword_argument" else ""
        if value is None or value.kind != "string" or name not in {"", "mode"}:
            continue
        try:
            old = ast.literal_eval(value.text)
        except (ValueError, SyntaxError):
            continue
        if not isinstance(old, str) or not _MODE.match(old):
            continue
        quote = value.text[-1]
        if "b" in old:
            weight = 1.0 if _TEXT_HANDED.search(errors) else 0.3
            yield put("call.mode", value, f"{quote}{old.replace('b', '')}{quote}", weight)
        else:
            weight = 1.0 if _BYTES_HANDED.search(errors) else 0.3
            yield put("call.mode", value, f"{quote}{old.replace('t', '')}b{quote}", weight)
        for other in {"r": ("r+",), "w": ("a", "x"), "a": ("w",)}.get(old[:1], ()):
            yield put("call.mode", value, f"{quote}{other}{old[1:].replace('+', '')}{quote}", 0.3)


TABLE: Table = {"call": (handed_on, by_own_name, starred, mode)}
