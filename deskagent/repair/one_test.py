"""One test's source: the errors that it wants and the calls that it makes."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from deskagent.repair.patterns import plain
from deskagent.repair.values import UNKNOWN, Env, known, settle

Function = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True)
class Raised:
    """An error that a failing test wants: its class by its last name, the module that the test has it from ("" if
    that can't be told), and its message, "" where the test doesn't say; `patterns.HOLE` stands for anything."""

    name: str
    module: str = ""
    message: str = ""


@dataclass(frozen=True)
class Call:
    """A call in a test. `name` is the last part of what is called; values that can't be told are UNKNOWN. `wanted`
    is the source of what the result is compared with, `result` its value; `raises` whether an error is wanted."""

    name: str
    values: tuple[object, ...]
    keywords: Mapping[str, object]
    wanted: str = ""
    result: object = UNKNOWN
    raises: bool = False


def last(node: ast.expr) -> str:
    """The last part of a dotted name, "" for anything else."""
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""


_RAISES = {"raises": "match", "assertRaises": "", "assertRaisesRegex": "", "assertRaisesRegexp": "",
           "warns": "match"}  # fmt: skip


class OneTest:
    """One test function, its values put in."""

    def __init__(self, function: Function, env: Env, imports: Mapping[str, str]) -> None:
        self.function, self.env, self.imports = function, dict(env), imports
        for node in ast.walk(function):
            if isinstance(node, ast.stmt):
                settle(node, self.env)

    def raises(self) -> Iterator[Raised]:
        """Errors that the test wants, with what it says of their messages."""
        said = list(self._said())
        for call in self._raising():
            message = self._pattern(call)
            for node in self._classes(call):
                name = last(node)
                if name:
                    base = node.value if isinstance(node, ast.Attribute) else node
                    module = self.imports.get(last(base), "")
                    yield from (
                        Raised(name, module, text) for text in ([message] if message else said or [""])
                    )
        for node in ast.walk(self.function):
            if isinstance(node, ast.ExceptHandler) and node.type is not None and last(node.type):
                name = last(node.type)
                yield from (Raised(name, self.imports.get(name, ""), text) for text in said or [""])

    def _raising(self) -> Iterator[ast.Call]:
        for node in ast.walk(self.function):
            if isinstance(node, ast.Call) and last(node.func) in _RAISES and (node.args or node.keywords):
                yield node

    def _classes(self, call: ast.Call) -> list[ast.expr]:
        first = call.args[0] if call.args else call.keywords[0].value
        if isinstance(first, ast.Name) and first.id in self.env:
            return []
        return list(first.elts) if isinstance(first, ast.Tuple) else [first]

    def _pattern(self, call: ast.Call) -> str:
        """The message that a pattern stands for."""
        given = next((k.value for k in call.keywords if k.arg in {"match", "expected_regex"}), None)
        if given is None and "Regex" in last(call.func) and len(call.args) > 1:
            given = call.args[1]
        if given is None:
            return ""
        if isinstance(given, ast.Call) and last(given.func) == "escape" and given.args:
            value = known(given.args[0], self.env)
            return value if isinstance(value, str) else ""
        value = known(given, self.env)
        return plain(value) if isinstance(value, str) else ""

    def _said(self) -> Iterator[str]:
        """What `str(error)` is compared with, or has to hold."""
        for node in ast.walk(self.function):
            sides: list[ast.expr] = []
            if isinstance(node, ast.Compare) and len(node.comparators) == 1:
                if isinstance(node.ops[0], (ast.Eq, ast.In)):
                    sides = [node.left, node.comparators[0]]
            elif isinstance(node, ast.Call) and last(node.func) in {
                "assertEqual",
                "assertIn",
                "assertRegex",
            }:
                sides = node.args[:2]
            if len(sides) == 2:
                for one, other in (sides, sides[::-1]):
                    if _of_error(one):
                        value = known(other, self.env)
                        if isinstance(value, str) and value:
                            yield value

    def note(self, bad: list[Call], good: list[Call]) -> None:
        """The test's calls: those that an error is wanted of, or all where none is, are `bad`."""
        inside: set[int] = set()
        guarded = False
        for node in ast.walk(self.function):
            if isinstance(node, (ast.With, ast.AsyncWith)) and any(
                isinstance(item.context_expr, ast.Call) and last(item.context_expr.func) in _RAISES
                for item in node.items
            ):
                guarded = True
                inside |= {id(part) for statement in node.body for part in ast.walk(statement)}
        wanted = dict(self._compared())
        body = (node for statement in self.function.body for node in ast.walk(statement))
        for node in body:
            if isinstance(node, (ast.BinOp, ast.Subscript)) and id(node) in inside:
                made = node.right if isinstance(node, ast.BinOp) else node.slice
                method = _METHODS.get(type(node.op), "") if isinstance(node, ast.BinOp) else "__getitem__"
                bad.append(self._call(method, [made], [], raises=True))
                continue
            name = last(node.func) if isinstance(node, ast.Call) else ""
            if (
                not isinstance(node, ast.Call)
                or not name
                or name in _OWN
                or (name.startswith("assert") and name not in _RAISES)
            ):
                continue
            if name in _RAISES and len(node.args) > 1 and "Regex" not in name:
                guarded = True
                called = last(node.args[1])
                if called:
                    bad.append(self._call(called, node.args[2:], node.keywords, raises=True))
            elif name in _RAISES:
                continue
            elif id(node) in inside:
                bad.append(self._call(name, node.args, node.keywords, raises=True))
            else:
                target = good if guarded else bad
                target.append(self._call(name, node.args, node.keywords, other=wanted.get(id(node))))

    def _call(
        self,
        name: str,
        given: list[ast.expr],
        keywords: list[ast.keyword],
        *,
        other: ast.expr | None = None,
        raises: bool = False,
    ) -> Call:
        values = tuple(known(part, self.env) for part in given if not isinstance(part, ast.Starred))
        named = {k.arg: known(k.value, self.env) for k in keywords if k.arg}
        if other is None:
            return Call(name, values, named, raises=raises)
        return Call(name, values, named, ast.unparse(other), known(other, self.env))

    def _compared(self) -> Iterator[tuple[int, ast.expr]]:
        """id of a call → what its result has to be."""
        for node in ast.walk(self.function):
            pairs: list[tuple[ast.expr, ast.expr]] = []
            if isinstance(node, ast.Compare) and len(node.comparators) == 1:
                if isinstance(node.ops[0], (ast.Eq, ast.Is)):
                    pairs = [(node.left, node.comparators[0])]
            elif isinstance(node, ast.Call) and last(node.func) in {
                "assertEqual",
                "assertIs",
                "assertListEqual",
            }:
                pairs = [(node.args[0], node.args[1])] if len(node.args) > 1 else []
            elif isinstance(node, ast.Call) and last(node.func) in _TRUTHS and node.args:
                pairs = [(node.args[0], ast.Constant(_TRUTHS[last(node.func)]))]
            elif isinstance(node, ast.Assert):
                test = node.test
                if isinstance(test, ast.Call):
                    pairs = [(test, ast.Constant(True))]
                elif isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
                    pairs = [(test.operand, ast.Constant(False))]
            for one, other in pairs:
                for call, value in ((one, other), (other, one)):
                    if isinstance(call, ast.Call) and not (isinstance(value, ast.Call) and call is other):
                        inner = call.args[0] if last(call.func) in _WRAPS and call.args else call
                        yield id(inner if isinstance(inner, ast.Call) else call), value


_TRUTHS = {"assertTrue": True, "assertFalse": False, "assertIsNone": None}
_METHODS = {ast.Add: "__add__", ast.Sub: "__sub__", ast.Mult: "__mul__", ast.MatMult: "__matmul__",
            ast.Div: "__truediv__", ast.FloorDiv: "__floordiv__", ast.Mod: "__mod__", ast.Pow: "__pow__",
            ast.BitOr: "__or__", ast.BitAnd: "__and__"}  # fmt: skip
_OWN = frozenset({"str", "repr", "len", "range", "print", "approx"})
_WRAPS = frozenset({"list", "sorted", "tuple", "set", "dict", "run"})


def _of_error(node: ast.expr) -> bool:
    """Whether `node` is the text of a caught error."""
    text = ast.unparse(node)
    return bool(
        re.fullmatch(
            r"str\(\w+(\.(value|exception))?\)|\w+\.(value|exception)\.(args\[0\]|message|msg)", text
        )
    )
