"""The forms in which models write calls as text, read as tolerantly as can be done without guessing.

JSON of Hermes, Qwen, Llama 3 and Mistral, one call or a list; Qwen3-Coder's and Llama's `<function=…>`; Llama 4's and
others' Python; Mistral's `name[ARGS]{…}`.
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Callable
from typing import Any

Written = tuple[str, str]
"""A call's name, and its arguments as text: JSON wherever that could be read."""

_NAMES = ("name", "function", "tool", "tool_name")
_ARGUMENTS = ("arguments", "parameters", "args", "input", "tool_input")
_FUNCTION = re.compile(r"<function=([^>\s]+)\s*>(.*?)(?:</function>|\Z)", re.DOTALL)
_PARAMETER = re.compile(r"<parameter=([^>\s]+)\s*>(.*?)(?:</parameter>|(?=<parameter=)|\Z)", re.DOTALL)
_ARGS = re.compile(r"\s*([\w.-]+)\s*\[ARGS\]\s*(.*)", re.DOTALL)
_NAMED = re.compile(r'["\'](?:name|function|tool|tool_name)["\']\s*:\s*["\']([^"\']+)["\']')
_GIVEN = re.compile(r'["\'](?:arguments|parameters|args|input)["\']\s*:\s*(.*)\Z', re.DOTALL)
_DECODER = json.JSONDecoder(strict=False)
_MOST_MISSING = 4
"""Closing brackets that a model may have left out at the end."""


def calls_in(body: str) -> list[Written]:
    """The calls that `body` is; empty where it is none."""
    for form in _FORMS:
        if found := form(body.strip()):
            return found
    return []


def broken_call(body: str) -> list[Written]:
    """A call whose arguments can't be read, as it was written, so that the model is told; empty where not even its name
    can be made out."""
    named = _NAMED.search(body)
    given = _GIVEN.search(body)
    return [(named[1], (given[1] if given else body).strip())] if named else []


def value_of(text: str) -> Any:
    """What JSON, nearly JSON or a Python literal says. Errors: ValueError."""
    text = text.strip()
    for closing in _closings(text):
        for read in (_json, _without_commas, _literal):
            try:
                return read(text + closing)
            except (ValueError, SyntaxError, RecursionError, MemoryError):
                continue
    raise ValueError("no value can be read from it")


def _closings(text: str) -> list[str]:
    """What may be missing at the end: nothing, else the brackets that are open there."""
    stack: list[str] = []
    quoted = escaped = False
    for letter in text:
        if escaped:
            escaped = False
        elif quoted:
            escaped, quoted = letter == "\\", letter != '"'
        elif letter == '"':
            quoted = True
        elif letter in "{[":
            stack.append("}" if letter == "{" else "]")
        elif letter in "}]" and stack:
            stack.pop()
    missing = "".join(reversed(stack))
    return ["", missing] if not quoted and 0 < len(missing) <= _MOST_MISSING else [""]


def _json(text: str) -> Any:
    return json.loads(text, strict=False)


def _without_commas(text: str) -> Any:
    """A comma before a closing bracket is left out; inside quotes it stays."""
    return json.loads(re.sub(r'("(?:[^"\\]|\\.)*")|,(?=\s*[}\]])', lambda m: m[1] or "", text), strict=False)


def _literal(text: str) -> Any:
    return ast.literal_eval(text)


def _as_json(body: str) -> list[Written]:
    """Objects and lists in a row; what comes behind them, if it is no JSON, is no part of the calls."""
    found: list[Written] = []
    while body.startswith(("{", "[")):
        if body.startswith("{{"):  # as some templates show it by mistake
            body = body[1:]
        try:
            value, size = _DECODER.raw_decode(body)
        except (ValueError, RecursionError):
            try:
                value, size = value_of(body), len(body)
            except ValueError:
                break
        made = [_one(each) for each in (value if isinstance(value, list) else [value])]
        if None in made:
            break
        found += [call for call in made if call is not None]
        body = body[size:].lstrip(" \t\r\n,;}")
    return found


def _one(found: Any) -> Written | None:
    if not isinstance(found, dict):
        return None
    inner = found.get("function")
    if isinstance(inner, dict):  # as OpenAI's API has it
        return _one(inner)
    name = next((found[key] for key in _NAMES if isinstance(found.get(key), str)), "")
    if not name:
        return None
    given = next((found[key] for key in _ARGUMENTS if key in found), None)
    if given is None:
        given = {key: value for key, value in found.items() if key not in (*_NAMES, "id", "type")}
    if isinstance(given, str):
        return name, given  # JSON in JSON
    return name, json.dumps(given, ensure_ascii=False)


def _as_functions(body: str) -> list[Written]:
    found = []
    for name, inside in _FUNCTION.findall(body):
        parameters = _PARAMETER.findall(inside)
        if parameters:
            given: Any = {key: _parameter(text) for key, text in parameters}
        else:
            try:
                given = value_of(inside) if inside.strip() else {}
            except ValueError:
                found.append((name, inside.strip()))
                continue
        found.append((name, json.dumps(given, ensure_ascii=False)))
    return found


def _parameter(text: str) -> Any:
    """Text without the line ends beside its markers; numbers, truth values, lists and objects as what they are."""
    text = text.removeprefix("\n").removesuffix("\n")
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return text
    return text if isinstance(found, str) else found


def _as_args(body: str) -> list[Written]:
    found = _ARGS.fullmatch(body)
    if not found:
        return []
    try:
        return [(found[1], json.dumps(value_of(found[2]), ensure_ascii=False))]
    except ValueError:
        return [(found[1], found[2])]


def _as_python(body: str) -> list[Written]:
    """`name(key=value)`, or a list of such."""
    if not re.match(r"\[?\s*[\w.]+\s*\(", body):
        return []
    try:
        tree = ast.parse(body, mode="eval").body
    except (ValueError, SyntaxError, RecursionError, MemoryError):
        return []
    found: list[Written] = []
    for call in tree.elts if isinstance(tree, ast.List) else [tree]:
        if not isinstance(call, ast.Call) or call.args or any(each.arg is None for each in call.keywords):
            return []
        try:
            given = {str(each.arg): ast.literal_eval(each.value) for each in call.keywords}
            found.append((ast.unparse(call.func), json.dumps(given, ensure_ascii=False)))
        except (ValueError, TypeError, RecursionError):
            return []
    return found


_FORMS: tuple[Callable[[str], list[Written]], ...] = (_as_json, _as_functions, _as_args, _as_python)
