"""Bugs of names: another variable, attribute, method, function, exception."""

from __future__ import annotations

import ast
import builtins
import random
import re
from collections.abc import Iterable, Iterator

from engine.train.bugs.change import Change, Changes
from engine.train.bugs.source import FUNCTIONS, LOOPS, Unit

_SIBLINGS = (
    ("lstrip", "rstrip", "strip"), ("startswith", "endswith"), ("append", "extend", "insert"), ("min", "max"),
    ("any", "all"), ("keys", "values", "items"), ("find", "rfind", "index"), ("split", "rsplit", "splitlines"),
    ("partition", "rpartition"), ("lower", "upper", "title"), ("encode", "decode"), ("add", "discard", "remove"),
    ("pop", "popleft", "get"), ("appendleft", "append"), ("read", "readline", "readlines"),
    ("match", "search", "fullmatch"), ("isdigit", "isalpha", "isalnum"),
    ("list", "tuple", "set"), ("int", "float"), ("floor", "ceil"), ("dirname", "basename"),
    ("exists", "isfile", "isdir"), ("is_file", "is_dir", "exists"), ("update", "setdefault"),
    ("get", "pop", "setdefault"), ("union", "intersection", "difference"), ("sort", "reverse"),
    ("sorted", "reversed"), ("load", "loads"), ("dump", "dumps"), ("repr", "str"), ("getattr", "hasattr"),
    ("acquire", "release"), ("islice", "chain"), ("findall", "finditer"),
    ("sub", "subn"), ("ljust", "rjust", "center"), ("bisect_left", "bisect_right"), ("heappush", "heappop"),
    ("ord", "chr"), ("abspath", "realpath"), ("name", "stem"), ("start", "end"), ("first", "last"),
    ("left", "right"), ("next", "prev", "previous"), ("old", "new"), ("key", "value"), ("width", "height"),
    ("row", "column", "col"), ("x", "y"), ("i", "j"), ("src", "dst"), ("source", "target"), ("before", "after"),
    ("lower", "upper"), ("low", "high"), ("parent", "child"), ("begin", "end"), ("stdout", "stderr"),
    ("host", "port"), ("minimum", "maximum"), ("size", "length"), ("head", "tail"), ("args", "kwargs"), ("a", "b"),
)  # fmt: skip
"""Names that people take for each other."""
_EXCEPTIONS = (
    ("KeyError", "IndexError", "LookupError", "AttributeError"),
    ("ValueError", "TypeError", "KeyError", "RuntimeError"),
    ("OSError", "FileNotFoundError", "PermissionError", "ValueError"), ("AttributeError", "TypeError", "KeyError"),
    ("UnicodeDecodeError", "UnicodeEncodeError", "ValueError"), ("ImportError", "AttributeError"),
    ("StopIteration", "IndexError", "GeneratorExit"), ("NotImplementedError", "TypeError", "ValueError"),
    ("OverflowError", "ZeroDivisionError", "ValueError"), ("TimeoutError", "OSError", "ConnectionError"),
)  # fmt: skip
_KNOWN = set(dir(builtins))
_ALIKE = 0.8
"""Share of wrong variables that are used like the right one elsewhere, where there is such a one."""


def variable(unit: Unit, rng: random.Random) -> Changes | None:
    """A variable is read that isn't meant, but known at that place, more often one that is used in the same way."""
    found = [node for node in unit.all(ast.Name) if isinstance(node.ctx, ast.Load) and node.id not in _KNOWN]
    rng.shuffle(found)
    uses: dict[str, set[str]] = {}
    for node in found:
        uses.setdefault(node.id, set()).add(_use(unit, node))
    for node in found[:12]:
        around = unit.parent(node)
        called = isinstance(around, ast.Call) and around.func is node
        known = _locals(unit, node)
        if called or isinstance(around, ast.Raise) or node.id not in known:
            continue
        others = known - {node.id}
        alike = {other for other in others if uses.get(other, set()) & uses[node.id]}
        new = _other(node.id, alike if alike and rng.random() < _ALIKE else others, rng)
        if new and not _repeats(unit, node, new):
            return [Change(*unit.span(node), new)]
    return None


def updated(unit: Unit, rng: random.Random) -> Changes | None:
    """Another variable is set than should be, in a loop."""
    found = []
    for node in unit.all(ast.Assign, ast.AugAssign):
        target = node.targets[0] if isinstance(node, ast.Assign) else node.target
        inside = any(isinstance(above, LOOPS) for above in unit.parents(node))
        if inside and isinstance(target, ast.Name):
            found.append(target)
    if not found:
        return None
    node = rng.choice(found)
    others = {each.id for each in found} | _locals(unit, node, params=False)
    new = _other(node.id, others - {node.id}, rng)
    return [Change(*unit.span(node), new)] if new else None


def attribute(unit: Unit, rng: random.Random) -> Changes | None:
    """Another attribute of the same object, seen elsewhere in the part."""
    seen: dict[str, set[str]] = {}
    called = {id(node.func) for node in unit.all(ast.Call)}
    every = unit.all(ast.Attribute)
    kind = {id(node): (unit.of(node.value), id(node) in called) for node in every if _plain(node.value)}
    for node in every:
        if id(node) in kind:
            seen.setdefault(str(kind[id(node)]), set()).add(node.attr)
    found = [
        (node, seen[str(kind[id(node)])] - {node.attr})
        for node in every
        if id(node) in kind and len(seen[str(kind[id(node)])]) > 1
    ]
    if not found:
        return None
    node, others = rng.choice(found)
    return _attribute(unit, node, _other(node.attr, others, rng))


def sibling(unit: Unit, rng: random.Random) -> Changes | None:
    """A name that people take for this one: `lstrip` for `rstrip`, `min` for `max`, `start` for `end`."""
    found: list[tuple[ast.AST, str]] = []
    for node in unit.all(ast.Call):
        name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        others = [each for group in _SIBLINGS if name in group for each in group if each != name]
        if isinstance(node.func, ast.Name) and name in _KNOWN:
            others = [each for each in others if each in _KNOWN]
        if others:
            found.append((node.func, rng.choice(others)))
    for node in unit.all(ast.Name, ast.Attribute):
        name = node.id if isinstance(node, ast.Name) else node.attr
        if isinstance(node.ctx, ast.Load):
            found += [(node, new) for new in _analogues(name) if re.search(rf"\b{new}\b", unit.text)]
    if not found:
        return None
    node, new = rng.choice(found)
    if isinstance(node, ast.Attribute):
        return _attribute(unit, node, new)
    return [Change(*unit.span(node), new)]


def function(unit: Unit, rng: random.Random) -> Changes | None:
    """Another function of those called here, with the most similar name."""
    names = {node.func.id for node in unit.all(ast.Call) if isinstance(node.func, ast.Name)}
    found = [
        node.func
        for node in unit.all(ast.Call)
        if isinstance(node.func, ast.Name) and node.func.id not in _KNOWN
    ]
    if not found or len(names) < 2:
        return None
    node = rng.choice(found)
    alike = {name for name in names - {node.id} if _similar(name, node.id)}
    return [Change(*unit.span(node), rng.choice(sorted(alike)))] if alike else None


def exception(unit: Unit, rng: random.Random) -> Changes | None:
    """Another type of exception is caught or raised, or one of several isn't caught."""
    found: list[ast.Name] = []
    changes: list[Changes] = []
    for handler in unit.all(ast.ExceptHandler):
        if isinstance(handler.type, ast.Name):
            found.append(handler.type)
        elif isinstance(handler.type, ast.Tuple) and len(handler.type.elts) == 2:
            kept = rng.choice(handler.type.elts)
            changes.append([Change(*unit.span(handler.type), unit.of(kept))])
    for node in unit.all(ast.Raise):
        raised = node.exc.func if isinstance(node.exc, ast.Call) else node.exc
        if isinstance(raised, ast.Name):
            found.append(raised)
    for node in found:
        others = [name for group in _EXCEPTIONS if node.id in group for name in group if name != node.id]
        if others:
            changes.append([Change(*unit.span(node), rng.choice(others))])
    return rng.choice(changes) if changes else None


def _attribute(unit: Unit, node: ast.Attribute, new: str | None) -> Changes | None:
    _, end = unit.span(node)
    if not new or unit.text[end - len(node.attr) : end] != node.attr:
        return None
    return [Change(end - len(node.attr), end, new)]


def _plain(node: ast.AST) -> bool:
    return isinstance(node, ast.Name) or (
        isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name)
    )


def _locals(unit: Unit, node: ast.AST, *, params: bool = True) -> set[str]:
    """Variables of the function around a node that are set above it."""
    function = unit.function(node)
    if function is None:
        return set()
    line = getattr(node, "lineno", 0)
    names = {
        each.id
        for each in unit.all(ast.Name)
        if isinstance(each.ctx, ast.Store) and function.lineno <= each.lineno < line
    }
    if params and isinstance(function, FUNCTIONS):
        every = function.args
        names |= {each.arg for each in [*every.posonlyargs, *every.args, *every.kwonlyargs]}
    return names - {"self", "cls", "_"}


def _use(unit: Unit, node: ast.Name) -> str:
    """What is done with a variable there: which attribute is read of it, or what holds it."""
    around = unit.parent(node)
    if isinstance(around, ast.Attribute):
        return "." + around.attr
    if isinstance(around, ast.Subscript):
        return "owner" if around.value is node else "index"
    return type(around).__name__


def _other(name: str, others: Iterable[str], rng: random.Random) -> str | None:
    """One of the others, more often one that is like it."""
    every = sorted(others)
    if not every:
        return None
    alike = [other for other in every if _similar(name, other)]
    return rng.choice(alike if alike and rng.random() < 0.6 else every)


def _similar(one: str, two: str) -> bool:
    short, long = sorted((one.strip("_"), two.strip("_")), key=len)
    if len(short) <= 1:
        return len(long) <= 2
    parts, others = set(one.split("_")), set(two.split("_"))
    return short[:3] == long[:3] or short[-3:] == long[-3:] or bool((parts & others) - {""})


def _analogues(name: str) -> Iterator[str]:
    """`max_left` for `max_right`."""
    parts = name.split("_")
    for at, part in enumerate(parts):
        for group in _SIBLINGS:
            if part in group:
                other = group[(group.index(part) + 1) % len(group)]
                yield "_".join([*parts[:at], other, *parts[at + 1 :]])


def _repeats(unit: Unit, node: ast.Name, new: str) -> bool:
    """Whether both sides of an operator or assignment would be the same, which nobody writes."""
    around = unit.parent(node)
    if isinstance(around, ast.Assign):
        return any(unit.of(target) == new for target in around.targets)
    if isinstance(around, ast.Compare):
        return any(unit.of(each) == new for each in [around.left, *around.comparators])
    return False
