"""What the request and the failing tests say in words: names, literals, exceptions, how tests ended."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from deskagent.repair.asked import Asked, read_asked
from deskagent.repair.conversions import told
from deskagent.repair.examples import Examples, read_examples
from deskagent.repair.types import Baseline, Outcome

_NAME = re.compile(r"[^\W\d]\w*")
_NUMBER = re.compile(r"(?<![\w.])-?\d+(?:\.\d+)?(?![\w.])")
_QUOTED = re.compile(r"'((?:[^'\\\n]|\\.){0,80})'|\"((?:[^\"\\\n]|\\.){0,80})\"")
_EXCEPTION = re.compile(r"\b(?:[a-z_]\w*\.)*([A-Z]\w*(?:Error|Exception|Warning|Iteration|Interrupt|Exit))\b")
_NONE_ATTRIBUTE = re.compile(r"'NoneType' object has no attribute '(\w+)'")
_MISSING = re.compile(
    r"has no attribute '(\w+)'|name '(\w+)' is not defined|KeyError: '(\w+)'|local variable '(\w+)'"
    r"|keyword argument '(\w+)'|required positional argument: '(\w+)'"
)
_MEANT = re.compile(r"Did you mean: '(\w+)'")
_NOISE = frozenset(
    [
        "a",
        "an",
        "the",
        "is",
        "in",
        "of",
        "to",
        "and",
        "or",
        "not",
        "for",
        "on",
        "it",
        "its",
        "that",
        "this",
        "with",
        "as",
        "at",
        "by",
        "be",
        "from",
        "returns",
        "return",
        "returned",
        "when",
        "if",
        "does",
        "doesn",
        "do",
        "fails",
        "fail",
        "failed",
        "failing",
        "wrong",
        "should",
        "must",
        "instead",
        "test",
        "tests",
        "assert",
        "self",
        "def",
        "line",
        "none",
        "true",
        "false",
        "error",
        "expected",
        "got",
        "file",
        "e",
        "where",
        "py",
        "last",
        "first",
    ]
)
_TRACEBACK_LINE = re.compile(r"^\s*(?:File \"|[\w./\\-]+:\d+:)")
MESSAGE_LIMIT = 20_000
MAX_LITERALS = 100


@dataclass(frozen=True)
class Hints:
    """`request` and `message` are identifiers, `literals` the source text of numbers and the content of strings
    in the failing tests' messages; `missing` are names that an error says don't exist, `meant` those it proposes
    instead; `none_attributes` were looked up on None; `conversions` are what turns the values that came into those
    expected, or does away with the error, with how strongly that is said (see `conversions`); `said` is the request
    as it stands; `asked` is what the tests' own source says, where it could be read."""

    request: frozenset[str] = frozenset()
    message: frozenset[str] = frozenset()
    literals: frozenset[str] = frozenset()
    exceptions: frozenset[str] = frozenset()
    missing: frozenset[str] = frozenset()
    meant: frozenset[str] = frozenset()
    none_attributes: frozenset[str] = frozenset()
    examples: Examples = field(default_factory=Examples)
    conversions: Mapping[str, float] = field(default_factory=dict)
    said: str = ""
    asked: Asked = field(default_factory=Asked)


def read_hints(
    request: str, baseline: Baseline | None, read: Callable[[str], str | None] | None = None
) -> Hints:
    """Hints from the person's words and from the failing tests' results; from the tests' source too where `read`
    gives the text of project-relative files."""
    failing = baseline.failing[:50] if baseline is not None else ()
    text = "\n".join(result.message[-MESSAGE_LIMIT:] for result in failing)[: MESSAGE_LIMIT * 10]
    ids = "\n".join(result.id for result in failing)
    exceptions = set(_EXCEPTION.findall(text))
    if any(result.outcome is Outcome.TIMEOUT for result in failing):
        exceptions.add("Timeout")
    if re.search(r"^E?\s*(?:AssertionError\b.*)?assert ", text, re.MULTILINE):
        exceptions.add("AssertionError")
    words = f"{request}\n{text}"
    numbers = dict.fromkeys(_NUMBER.findall(words))
    strings = dict.fromkeys(a or b for a, b in _QUOTED.findall(words) if a or b)
    examples = read_examples(result.message[-MESSAGE_LIMIT:] for result in failing)
    return Hints(
        request=_names(request),
        message=_names(_without_places(text)) | _names(re.sub(r"\btest_?|_test\b", " ", ids)),
        literals=frozenset([*numbers][:MAX_LITERALS] + [*strings][:MAX_LITERALS]),
        exceptions=frozenset(exceptions),
        missing=frozenset(name for found in _MISSING.findall(text) for name in found if name),
        meant=frozenset(_MEANT.findall(text)),
        none_attributes=frozenset(_NONE_ATTRIBUTE.findall(text)),
        examples=examples,
        conversions=told(examples),
        said=request,
        asked=read_asked(baseline, read) if read is not None else Asked(),
    )


def _names(text: str) -> frozenset[str]:
    return frozenset(name for name in _NAME.findall(text) if name.lower() not in _NOISE and len(name) > 1)


def _without_places(text: str) -> str:
    """Drops lines that only say where in which file: their names are no hint."""
    return "\n".join(line for line in text.splitlines() if not _TRACEBACK_LINE.match(line))
