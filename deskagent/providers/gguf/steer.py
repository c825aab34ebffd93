"""Holds a model's calls to their tools' schemas while it writes them.

As soon as a call names a tool that there is, the words before its arguments are written for the model, and the
arguments follow the schema's grammar until they are whole. Everything else is written freely.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

_TAIL = 400
"""Letters looked back at."""
ANY_OBJECT = r"""root ::= object
value ::= object | array | string | number | "true" | "false" | "null"
object ::= "{" ws ( string ws ":" ws value ( ws "," ws string ws ":" ws value )* )? ws "}"
array ::= "[" ws ( value ( ws "," ws value )* )? ws "]"
string ::= "\"" ( [^"\\\x7F\x00-\x1F] | "\\" ( ["\\/bfnrt] | "u" [0-9a-fA-F]{4} ) )* "\""
number ::= "-"? ( "0" | [1-9] [0-9]{0,15} ) ( "." [0-9]{1,15} )? ( [eE] [-+]? [0-9]{1,3} )?
ws ::= [ \n\t]{0,8}
"""
"""For schemas that can't be made a grammar."""


_SIZES = frozenset({"minLength", "maxLength", "minItems", "maxItems", "pattern", "description", "default"})


@dataclass(frozen=True, slots=True)
class Turn:
    """What comes next: `write` these letters, then follow `grammar` ("" for none)."""

    write: str
    grammar: str


class Steer:
    """Follows one answer. grammars: of the arguments, by a tool's name. key: what arguments are called. required: the
    answer has to begin with a call."""

    def __init__(
        self, grammars: Mapping[str, str], key: str = "arguments", *, required: bool = False
    ) -> None:
        self._grammars, self._key = grammars, key
        names = "|".join(sorted(map(re.escape, grammars), key=len, reverse=True)) or "(?!)"
        begin = r"(?:\A|\n|<tool_call>|\[TOOL_CALLS\]|<\|python_tag\|>)\s*\[?\s*"
        self._named = re.compile(rf'{begin}\{{{{1,2}}\s*"name"\s*:\s*"({names})"(,?\s*"?)\Z')
        self._args = re.compile(rf"\[TOOL_CALLS\]\s*({names})\[ARGS\]()\Z")
        self._tail = ""
        self._arguments: str | None = None
        self._end = ""
        self._required = required

    def start(self) -> Turn | None:
        """What stands at the answer's beginning."""
        if not self._required:
            return None
        names = " | ".join(json.dumps(f'{name}"') for name in self._grammars)
        self._tail = '<tool_call>\n{"name": "'
        return Turn(self._tail, f"root ::= {names}\n")

    def feed(self, piece: str) -> Turn | None:
        """After the next letters: what changes, None for nothing."""
        if self._arguments is not None:
            self._arguments += piece
            if "}" not in piece or not _whole(self._arguments):
                return None
            self._arguments, self._tail = None, ""
            return Turn(self._end, "")
        self._tail = (self._tail + piece)[-_TAIL:]
        hit = self._named.search(self._tail) or self._args.search(self._tail)
        if hit is None:
            return None
        written = f', "{self._key}":' if hit.re is self._named else ""
        there = hit[2].replace("\n", " ")
        if written and not written.startswith(there):
            return None
        self._arguments = ""
        marked = "<tool_call>" in hit[0]
        self._end = "}\n</tool_call>" if marked else "}" if written else ""
        return Turn(written[len(there) :], self._grammars[hit[1]])


def grammars(tools: Iterable[Mapping[str, Any]], convert: Callable[[str], str]) -> dict[str, str]:
    """Of each tool's arguments, by its name. convert: a JSON schema's text to a grammar's, which may raise."""
    found = {}
    for tool in tools:
        function = tool["function"]
        try:
            made = convert(json.dumps(_shape(function["parameters"])))
        except Exception:  # what the converter doesn't know is still held to be an object
            made = ANY_OBJECT
        found[function["name"]] = _spaced(made)
    return found


def _shape(node: Any) -> Any:
    """Without lengths and patterns, which make a grammar huge or slow; the tool itself looks at them."""
    if isinstance(node, list):
        return [_shape(each) for each in node]
    if not isinstance(node, dict):
        return node
    kept = {key: value for key, value in node.items() if key not in _SIZES}
    return {
        key: {name: _shape(each) for name, each in value.items()} if key == "properties" else _shape(value)
        for key, value in kept.items()
    }


def _spaced(grammar: str) -> str:
    """With a blank before it, and line ends in strings only as JSON has them."""
    lines = [re.sub(r"^root(\s*::=)", r"arguments\1", line) for line in grammar.splitlines()]
    lines = [line.replace(r'char ::= [^"\\]', r'char ::= [^"\\\x7F\x00-\x1F]') for line in lines]
    return "\n".join(['root ::= " "? arguments', *lines]) + "\n"


def _whole(text: str) -> bool:
    try:
        json.loads(text.strip(), strict=False)
    except (ValueError, RecursionError):
        return False
    return True
