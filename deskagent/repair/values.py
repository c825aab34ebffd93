"""The values of plain expressions in a test's source, without running it."""

from __future__ import annotations

import ast
from enum import Enum

MAX_LENGTH, MAX_BITS = 1000, 4000
"""Of text and collections that are worked out, and of whole numbers: larger ones have no text in Python."""


class Unknown(Enum):
    """A value that can't be told from the source."""

    UNKNOWN = "unknown"

    def __repr__(self) -> str:
        return "UNKNOWN"


UNKNOWN = Unknown.UNKNOWN
Env = dict[str, object]
"""Name → value."""


def known(node: ast.expr, env: Env) -> object:
    """The value of literals, of names that `env` knows, of ranges, and of text that is put together; else UNKNOWN."""
    if isinstance(node, ast.Constant):
        return UNKNOWN if isinstance(node.value, int) and node.value.bit_length() > MAX_BITS else node.value
    if isinstance(node, ast.Name):
        return env.get(node.id, UNKNOWN)
    if isinstance(node, (ast.List, ast.Tuple, ast.Set)):
        parts = [known(part, env) for part in node.elts]
        if UNKNOWN in [p for p in parts if isinstance(p, Unknown)]:
            return UNKNOWN
        return (
            _hashed(parts)
            if isinstance(node, ast.Set)
            else tuple(parts)
            if isinstance(node, ast.Tuple)
            else parts
        )
    if isinstance(node, ast.Dict):
        return _mapping(node, env)
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        value = known(node.operand, env)
        return -value if isinstance(value, (int, float)) else UNKNOWN
    if isinstance(node, ast.BinOp):
        return _joined(node, env)
    if isinstance(node, ast.Call):
        return _made(node, env)
    return UNKNOWN


def _hashed(parts: list[object]) -> object:
    try:
        return set(parts)
    except TypeError:
        return UNKNOWN


def _mapping(node: ast.Dict, env: Env) -> object:
    found = {}
    for key, value in zip(node.keys, node.values, strict=True):
        if key is None:
            return UNKNOWN
        one, other = known(key, env), known(value, env)
        if isinstance(one, Unknown) or isinstance(other, Unknown):
            return UNKNOWN
        try:
            found[one] = other
        except TypeError:
            return UNKNOWN
    return found


def _joined(node: ast.BinOp, env: Env) -> object:
    left, right = known(node.left, env), known(node.right, env)
    if isinstance(node.op, ast.Add):
        if isinstance(left, str) and isinstance(right, str):
            return left + right
        if isinstance(left, (int, float)) and isinstance(right, (int, float)):
            return left + right
    if isinstance(node.op, ast.Sub) and isinstance(left, (int, float)) and isinstance(right, (int, float)):
        return left - right
    if isinstance(node.op, ast.Mult):
        for one, count in ((left, right), (right, left)):
            if not isinstance(count, int) or not isinstance(one, (str, list)):
                continue
            flat = isinstance(one, str) or not any(isinstance(part, (list, tuple, dict, set)) for part in one)
            if flat and len(one) * count <= MAX_LENGTH:
                return one * count
    return UNKNOWN


def _made(node: ast.Call, env: Env) -> object:
    """`range(3)`, `list(…)`, `set()` and their like, `float("nan")`."""
    name = node.func.id if isinstance(node.func, ast.Name) else ""
    values = [known(part, env) for part in node.args]
    if node.keywords or any(isinstance(value, Unknown) for value in values):
        return UNKNOWN
    try:
        if name == "range" and 0 < len(values) <= 3 and all(isinstance(v, int) for v in values):
            return range(*values)  # type: ignore[arg-type]
        if any(isinstance(value, range) and len(value) > MAX_LENGTH for value in values):
            return UNKNOWN
        if name in _MAKERS and len(values) <= 1:
            return _MAKERS[name](*values)
    except (TypeError, ValueError, OverflowError, MemoryError):
        return UNKNOWN
    return UNKNOWN


_MAKERS = {
    "list": list,
    "tuple": tuple,
    "set": set,
    "dict": dict,
    "frozenset": frozenset,
    "float": float,
    "str": str,
    "bytes": lambda *v: bytes(*v) if not v or isinstance(v[0], bytes) else UNKNOWN,
}  # fmt: skip


def settle(statement: ast.stmt, env: Env) -> None:
    """Notes what a plain assignment gives a name; a name given several values is known by none."""
    if (
        isinstance(statement, ast.Assign)
        and len(statement.targets) == 1
        and isinstance(statement.targets[0], ast.Name)
    ):
        name = statement.targets[0].id
        env[name] = UNKNOWN if name in env else known(statement.value, env)
