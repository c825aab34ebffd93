"""Runs calls of a module's functions, with and without a bug in it; the standard library alone.

A fact is what an assertion can be made of: {"before": statements, "source": expression or statement, "value": what it
gave as a literal, or None, "raises": name of an exception, or None}.
"""

from __future__ import annotations

import ast
import functools
import linecache
import sys
import types
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

_LONGEST = 160
"""Characters of a value."""
_PLAIN = (int, float, str, bytes, bool, type(None), list, tuple, dict, set, frozenset, complex)
Fact = dict[str, Any]


def load(given: Mapping[str, Any]) -> None:
    """Loads a module from its text; whoever imports it gets this one from now on, also to read."""
    text = given["text"]
    path = f"{given['root']}/{given['path']}"
    _shown(path, text)
    module = types.ModuleType(given["module"])
    module.__file__ = path
    whole = path.endswith("__init__.py")
    module.__package__ = given["module"] if whole else given["module"].rpartition(".")[0]
    sys.modules[given["module"]] = module
    exec(compile(text, path, "exec"), module.__dict__)


def patched(given: Mapping[str, Any], function: Mapping[str, Any], text: str) -> Callable[[], None]:
    """Puts another text of one function into the loaded module, as if it had stood there. Returns what puts the right
    one back. Errors: whatever the text's own running raises; KeyError where the function is made in another way."""
    names = sys.modules[given["module"]].__dict__
    path = f"{given['root']}/{given['path']}"
    name, owner, first, last = (function[key] for key in ("called", "owner", "first", "last"))
    lines = given["text"].split("\n")
    whole = "\n".join([*lines[:first], text, *lines[last:]])
    holder = names[owner] if owner else None
    old = (holder.__dict__ if owner else names)[name]
    made: dict[str, Any] = {}
    above = "\n" * (first - 1) + f"class {owner}:\n" if owner else "\n" * first
    exec(compile(above + text, path, "exec"), names, made)
    _shown(path, whole)

    def back() -> None:
        _shown(path, given["text"])
        _put(holder, names, name, old)

    _put(holder, names, name, made[owner].__dict__[name] if owner else made[name])
    return back


def _put(holder: Any, names: dict[str, Any], name: str, value: object) -> None:
    if holder is None:
        names[name] = value
    else:
        setattr(holder, name, value)


def _shown(path: str, text: str) -> None:
    """From now on this is what stands in the file, for whoever shows its lines."""
    linecache.cache[path] = (len(text), None, text.splitlines(keepends=True), path)


def facts(given: Mapping[str, Any], groups: Sequence[Sequence[str]]) -> list[Fact]:
    """What calls of the loaded module's functions do. A group's sources share their names; it ends at what can't be
    asserted. What gives nothing, or nothing that can be written down, is no fact."""
    names = sys.modules[given["module"]].__dict__
    found: list[Fact] = []
    for group in groups:
        inside = dict(names)
        before: list[str] = []
        for source in group:
            value, error = run(source, inside)
            if error is not None:
                own = frames_own(error, f"{given['root']}/{given['path']}", given["text"])
                if own and assertable(error, names):
                    found.append(fact(before, source, None, type(error).__name__))
                break
            if is_expression(source):
                found.append(fact(before, source, literal_of(value), None))
            before = [*before, source]
    return [each for each in found if each["value"] not in (None, "None") or each["raises"]]


def fact(before: list[str], source: str, value: str | None, raises: str | None) -> Fact:
    return {"before": before, "source": source, "value": value, "raises": raises}


def agreed(one: Sequence[Fact], two: Sequence[Fact]) -> list[Fact]:
    """Those of `one` that another process saw as well."""
    others = {(tuple(each["before"]), each["source"]): each for each in two}
    return [each for each in one if others.get((tuple(each["before"]), each["source"])) == each]


def differences(
    given: Mapping[str, Any], meant: Sequence[Fact], watch: Callable[[int], None]
) -> Iterator[tuple[int, str, str]]:
    """Facts, by number, that don't hold with the loaded module, how (`value`, `error` or `raises`), and in a line what
    was expected and seen."""
    names = sys.modules[given["module"]].__dict__
    for number, each in enumerate(meant):
        watch(number)
        inside = dict(names)
        error = next(
            (error for source in each["before"] if (error := run(source, inside)[1]) is not None), None
        )
        if error is not None:
            yield number, "error", f"got {brief(error)}\n"
            return  # what comes after it can't be told
        value, error = run(each["source"], inside)
        if error is not None and type(error).__name__ != each["raises"]:
            yield number, "error", f"got {brief(error)}\n"
        elif error is None and each["raises"] is not None:
            yield number, "raises", f"expected {each['raises']}\n"
        elif error is None and each["value"] is not None and not same(value, each["value"]):
            yield number, "value", f"expected {each['value']}, got {shortened(value)}\n"


def brief(error: BaseException) -> str:
    try:
        return f"{type(error).__name__}: {error}".rstrip(": ").replace("\n", " ")[:_LONGEST]
    except Exception:  # an exception's own words
        return type(error).__name__


def shortened(value: object) -> str:
    try:
        return repr(value)[:_LONGEST]
    except Exception:  # a value's own repr
        return type(value).__name__


def names_of(fact: Fact, module: Mapping[str, Any]) -> list[str]:
    """What a test of the fact takes from the module, in the order in which it needs it."""
    whole = ast.parse("\n".join([fact["source"], *fact["before"], fact["raises"] or ""]))
    found = [node for node in ast.walk(whole) if isinstance(node, ast.Name)]
    own = {node.id for node in found if isinstance(node.ctx, ast.Store)}
    found.sort(key=lambda node: (node.lineno, node.col_offset))
    return [name for name in dict.fromkeys(node.id for node in found) if name in module and name not in own]


def same(value: object, literal: str) -> bool:
    try:
        return bool(value == ast.literal_eval(literal))
    except Exception:  # a comparison of somebody's own
        return False


def literal_of(value: object) -> str | None:
    """A literal that is equal to it, None where there is none, or a long one."""
    if not isinstance(value, _PLAIN):
        return None
    try:
        text = repr(value)
        return text if len(text) <= _LONGEST and ast.literal_eval(text) == value else None
    except Exception:  # a value's own repr or comparison
        return None


def assertable(error: BaseException, names: Mapping[str, Any]) -> bool:
    """Whether a test can name the exception."""
    kind = type(error)
    return kind is not NotImplementedError and (
        kind.__module__ == "builtins" or names.get(kind.__name__) is kind
    )


def frames_own(error: BaseException, path: str, text: str) -> bool:
    """Whether the module raised it on purpose."""
    trace, last = error.__traceback__, None
    while trace is not None:
        last, trace = trace, trace.tb_next
    if last is None or last.tb_frame.f_code.co_filename != path:
        return False
    return text.split("\n")[last.tb_lineno - 1].strip().startswith("raise")


@functools.cache
def is_expression(source: str) -> bool:
    try:
        compile(source, "<test>", "eval")
    except (SyntaxError, ValueError):
        return False
    return True


def run(source: str, names: dict[str, Any]) -> tuple[object, BaseException | None]:
    """(value, None), (None, None) of a statement, or (None, exception)."""
    try:
        if is_expression(source):
            return eval(compile(source, "<test>", "eval"), names), None
        exec(compile(source, "<test>", "exec"), names)
    except MemoryError:
        raise
    except Exception as error:
        return None, error
    return None, None
