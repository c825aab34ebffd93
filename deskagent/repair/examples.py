"""The failing examples: what a test handed in, what it expected and what came, read from the failures as printed.

pytest prints the test's source, the arguments as `name = value`, both sides of a comparison and their difference;
unittest prints the failing line and both sides.
"""

from __future__ import annotations

import ast
import re
import textwrap
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TypeVar

_ASSERTED = re.compile(r"^E\s+(?:AssertionError: )?assert (.*)$", re.MULTILINE)
_DIFFER = re.compile(
    r"^(?:E\s+(?:At index \S+ diff: )?|AssertionError: (?:\w+ differ: )?)(.*) != (.*)$", re.MULTILINE
)
_FIRST = re.compile(r"^First differing element \S+\n(.*)\n(.*)$", re.MULTILINE)
_BOUND = re.compile(r"^([^\W\d]\w*) += (.{1,300})$", re.MULTILINE)
_RAISED = re.compile(r"^(?:E\s+)?((?:\w+\.)*[A-Z]\w*(?:: .*)?)$", re.MULTILINE)
_UNITTEST = re.compile(r'^  File "[^"\n]+", line \d+, in (test\w*)\n    (.*)$', re.MULTILINE)
_CARETS = re.compile(r"^[ >]*[\^~]+\s*$")
_CUT = re.compile(r"(?<=[^.])\.\.\.(?=[^.])")  # how pytest shortens
MAX_SOURCE, MAX_VALUES = 200, 60
"""Lines of a test, and values of one sort, that are looked at."""
T = TypeVar("T")
Pair = tuple[object, object]


@dataclass(frozen=True)
class Examples:
    """What the failing tests show. `given` are values handed in, those nearest to the failure first; `pairs` are
    (expected, actual) as far down as they differ; `expected` is every value that a test wants; `errors` are the
    exceptions as printed, with their messages."""

    given: tuple[object, ...] = ()
    pairs: tuple[Pair, ...] = ()
    expected: tuple[object, ...] = ()
    errors: tuple[str, ...] = ()

    @property
    def texts(self) -> list[tuple[str, str]]:
        """The pairs that are both text: (expected, actual)."""
        return [(a, b) for a, b in self.pairs if isinstance(a, str) and isinstance(b, str)]


def read_examples(messages: Iterable[str]) -> Examples:
    """Examples from failure messages as pytest or unittest print them."""
    given: list[object] = []
    pairs: list[Pair] = []
    expected: list[object] = []
    errors: list[str] = []
    for message in messages:
        bound = {name: value for name, text in _BOUND.findall(message) for value in _value(text)}
        asked, wanted = _asked(message, bound)
        given += [*reversed(bound.values()), *asked]
        found = list(_compared(message))
        expected += [*wanted, *(e for e, _ in found)]
        for e, a in found:
            pairs += leaves(e, a)
        errors += [line for line in _RAISED.findall(message) if not line.startswith("AssertionError")]
    return Examples(
        tuple(_distinct(flat(given))),
        tuple(_distinct(pairs)),
        tuple(_distinct(flat(expected))),
        tuple(dict.fromkeys(errors)),
    )


def _value(text: str) -> Iterator[object]:
    """The literal that `text` is, if it is one."""
    try:
        yield ast.literal_eval(text.strip())
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
        return


def _distinct(values: Iterable[T]) -> list[T]:
    """Each once, in order; `1` and `True` and `1.0` are three."""
    return list({repr(value): value for value in values}.values())[:MAX_VALUES]


def flat(values: Iterable[object], depth: int = 4) -> Iterator[object]:
    """The values and what they hold; of a mapping keys and values."""
    for value in values:
        yield value
        if depth and isinstance(value, dict):
            yield from flat((part for item in value.items() for part in item), depth - 1)
        elif depth and isinstance(value, (list, tuple, set, frozenset)):
            yield from flat(value, depth - 1)


def leaves(expected: object, actual: object, depth: int = 6) -> Iterator[Pair]:
    """The pair, and the pairs inside it that differ, where both are built alike."""
    if type(expected) is type(actual) and expected == actual:
        return
    yield expected, actual
    if not depth:
        return
    if isinstance(expected, dict) and isinstance(actual, dict):
        for key in expected:
            if key in actual:
                yield from leaves(expected[key], actual[key], depth - 1)
        lost = [key for key in expected if key not in actual]
        come = [key for key in actual if key not in expected]
        for one, other in zip(lost, come, strict=False):
            yield from leaves(one, other, depth - 1)
    elif (
        isinstance(expected, (list, tuple))
        and isinstance(actual, (list, tuple))
        and len(expected) == len(actual)
    ):
        for one, other in zip(expected, actual, strict=True):
            yield from leaves(one, other, depth - 1)


def _compared(message: str) -> Iterator[Pair]:
    """(expected, actual) of the comparisons that failed."""
    for text in _ASSERTED.findall(message):
        for match in re.finditer(r" (?:==|is) ", text):
            for actual in _value(text[: match.start()]):
                for expected in _value(text[match.end() :]):
                    if not _CUT.search(text):
                        yield expected, actual
    for first, second in _DIFFER.findall(message):
        for actual in _value(first):
            for expected in _value(second.split(" : ")[0]):
                yield expected, actual
    for first, second in _FIRST.findall(message):
        for actual in _value(first):
            for expected in _value(second):
                yield expected, actual
    yield from _difference(message)


def _difference(message: str) -> Iterator[Pair]:
    """Texts put together again from a difference: pytest marks what it expected by `-`, unittest by `+`."""
    first = re.search(r"^E(\s+)[-+] ", message, re.MULTILINE)
    if first is not None:
        margin = "E" + first.group(1)
        block = message[first.start() :].splitlines()
        yield from _joined([line[len(margin) :] for line in block if line.startswith(margin)], "-", "+")
        return
    for block in re.findall(r"(?:^[-+? ] .*\n|^\n)+", message, re.MULTILINE):
        if "AssertionError: '" in message or 'AssertionError: "' in message:
            yield from _joined(block.splitlines(), "+", "-")


def _joined(lines: list[str], wanted: str, came: str) -> Iterator[Pair]:
    marks = {line[:1] for line in lines}
    if wanted in marks and came in marks:
        expected = "\n".join(line[2:] for line in lines if line[:1] in {wanted, " "})
        actual = "\n".join(line[2:] for line in lines if line[:1] in {came, " "})
        if expected != actual:
            yield expected, actual


def _asked(message: str, bound: dict[str, object]) -> tuple[list[object], list[object]]:
    """The literals that the failing test hands in, its last statement's first, and those that it compares with."""
    given: list[object] = []
    expected: list[object] = []
    for tree in _sources(message):
        statements = [node for node in ast.walk(tree) if isinstance(node, ast.stmt)]
        for statement in reversed(statements):
            if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                continue
            wanted = list(_wanted(statement))
            for node in wanted:
                if isinstance(node, ast.Name):
                    expected += [bound[node.id]] if node.id in bound else []
                else:
                    expected += _value(ast.unparse(node))
            inside = {id(part) for node in wanted for part in ast.walk(node)}
            own = [
                node
                for node in ast.walk(statement)
                if isinstance(node, ast.Constant) and id(node) not in inside
                and isinstance(node.value, str | int | float | bytes)
            ]  # fmt: skip
            given += [node.value for node in own]
    return given, expected


def _wanted(statement: ast.stmt) -> Iterator[ast.expr]:
    """The literal sides of what an assertion compares."""
    for node in ast.walk(statement):
        if isinstance(node, ast.Compare) and len(node.comparators) == 1:
            sides = [node.comparators[0], node.left]
        elif isinstance(node, ast.Call) and ast.unparse(node.func).rpartition(".")[2].startswith(
            ("assert", "approx")
        ):
            sides = list(reversed(node.args[:2]))
        else:
            continue
        for side in sides:
            if not any(isinstance(part, ast.Call | ast.Attribute | ast.Subscript) for part in ast.walk(side)):
                yield side
                break


def _sources(message: str) -> Iterator[ast.Module]:
    """The source of the failing test as far as it is printed."""
    lines = message.splitlines()[: MAX_SOURCE * 5]
    at = next((i for i, line in enumerate(lines) if line.startswith(">")), None)
    if at is not None:
        head = next((i for i in range(at, -1, -1) if re.match(r"[ >]*(?:async )?def ", lines[i])), at)
        yield from _parsed(lines[max(head, at - MAX_SOURCE) : at + 1], lines[at + 1 : at + 30])
    for _, line in _UNITTEST.findall(message):
        yield from _parsed([line], [])


def _parsed(lines: list[str], following: list[str]) -> Iterator[ast.Module]:
    """The lines as code, with as many of the following ones as a statement that goes on needs."""
    text = [re.sub(r"^>", " ", line) for line in lines]
    for line in ["", *following]:
        if line.startswith("E "):
            return
        if line and not _CARETS.match(line):
            text.append(line)
        try:
            yield ast.parse(textwrap.dedent("\n".join(text)))
            return
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            continue
