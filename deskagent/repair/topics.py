"""What the failing tests are about, as weighted words: those of the request, of the tests' names and source, and of
what their messages show; and how much a piece of code speaks of that."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from functools import lru_cache

from deskagent.repair.types import Baseline, TestResult

_WORD = re.compile(r"[^\W\d_]+|\d+")
_HUMP = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[^\WA-Za-z\d_]+|\d+")
_ENDINGS = (("ies", "y"), ("ing", ""), ("ed", ""), ("es", ""), ("s", ""))
_SHORTEST = 3
"""Of a word that an ending is taken from."""
_TEST = re.compile(r"^([ \t]*)(?:async[ \t]+)?def[ \t]+(test\w*)[ \t]*\(", re.MULTILINE | re.IGNORECASE)
_CLASS = re.compile(r"^class[ \t]+(\w+)", re.MULTILINE)
_SHOWN = re.compile(r"^E {2,}(.*)$", re.MULTILINE)
_OPERATORS: tuple[tuple[re.Pattern[str], str], ...] = tuple(
    (re.compile(pattern), name)
    for pattern, name in (
        (r"(?<![=!<>])==(?!=)", "__eq__"), (r"!=", "__ne__"), (r"[\w)\]] / ", "__truediv__"), (r" // ", "__floordiv__"),
        (r"[\w)\]] \+ ", "__add__"), (r"[\w)\]] - ", "__sub__"), (r"[\w)\]] \* ", "__mul__"), (r" % ", "__mod__"),
        (r"\brepr\(|!r\}", "__repr__"), (r"\bstr\(", "__str__"), (r"\blen\(", "__len__"), (r"\bbool\(", "__bool__"),
        (r"\bhash\(", "__hash__"), (r"\biter\(|\bfor\b", "__iter__"), (r"\bnext\(", "__next__"),
        (r"\bwith\b", "__enter__"), (r" in ", "__contains__"), (r"\bdel \w+\[", "__delitem__"),
        (r"\w\[[^\]]*\] = ", "__setitem__"), (r"\w\[", "__getitem__"), (r" < ", "__lt__"), (r" \| ", "__or__"),
        (r" & ", "__and__"), (r" > ", "__gt__"), (r"\+= ", "__iadd__"), (r"/= ", "__itruediv__"),
    )
)  # fmt: skip
REQUEST, NAME, SOURCE, MESSAGE = 2.0, 2.0, 1.0, 0.5
"""Weights of a word by where it stands."""
MAX_TESTS, MAX_FILES, MAX_SIZE, MAX_MESSAGE = 50, 10, 1_000_000, 4_000
_PLAIN = frozenset(
    ["a", "an", "the", "is", "in", "of", "to", "and", "or", "not", "for", "on", "it", "that", "this",
     "with", "as", "at", "by", "be", "from", "when", "if", "do", "don", "does", "should", "must", "test",
     "assert", "self", "def", "return", "none", "true", "false", "error", "fail", "failing", "fix", "add",
     "use", "import", "py", "raise", "class"]
)  # fmt: skip


@lru_cache(maxsize=20_000)
def parts(word: str) -> tuple[str, ...]:
    """The words in a name, small and without the commonest endings: `parseTags` → parse, tag."""
    return tuple(_stem(part.lower()) for part in _HUMP.findall(word))


def _stem(word: str) -> str:
    for ending, instead in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= _SHORTEST and not word.endswith("ss"):
            return word[: len(word) - len(ending)] + instead
    return word


def words(text: str) -> Counter[str]:
    """The words of a text with their number, without those that say nothing."""
    found: Counter[str] = Counter()
    for word in _WORD.findall(text):
        for part in parts(word):
            if len(part) > 1 and part not in _PLAIN:
                found[part] += 1
    return found


class Topics:
    """`weights` are the words that the failing tests are about; `called` the names that their source uses, each with
    how few of the other tests use it, in (0, 1]."""

    def __init__(self, weights: Mapping[str, float], called: Mapping[str, float]) -> None:
        self.weights, self.called = weights, called

    @classmethod
    def read(cls, request: str, baseline: Baseline, read: Callable[[str], str | None]) -> Topics:
        """From the person's words and the failing tests; `read` gives a project-relative file's text."""
        weights: dict[str, float] = {}

        def hear(found: Iterable[str], weight: float, rare: _Rare | None = None) -> None:
            for word in found:
                own = weight * (rare[word] if rare is not None else 1.0)
                weights[word] = weights.get(word, 0.0) + own

        failing = baseline.failing[:MAX_TESTS]
        hear(words(_own_words(request)), REQUEST)
        names: Counter[str] = Counter()
        for result in failing:
            names.update(set(words(_name(result.id))))
        hear(names, NAME)
        shown: set[str] = set()
        for result in failing:
            shown |= set(words(_shown(result)))
        hear(shown, MESSAGE)
        sources, others = _sources(baseline, failing, read)
        if sources:
            spoken = [set(words(text)) for text in others] or [set()]
            hear(set().union(*(words(text) for text in sources)), SOURCE, _Rare(spoken))
        used = [_used(text) for text in others] or [set()]
        rare = _Rare(used)
        called = {name: rare[name] for text in sources for name in _used(text)}
        return cls(weights, called)


class _Rare(dict[str, float]):
    """Word → how few of some collections hold it, in [0, 1]."""

    def __init__(self, held: Collection[set[str]]) -> None:
        counts = Counter(word for one in held for word in one)
        whole = math.log(1 + len(held))
        super().__init__((word, 1 - math.log(1 + count) / (whole + 1)) for word, count in counts.items())

    def __missing__(self, key: str) -> float:
        return 1.0


def _own_words(request: str) -> str:
    """The request without a list of failing tests: those are read from the results."""
    return re.split(r"^Failing: ", request, maxsplit=1, flags=re.MULTILINE)[0]


def _name(test: str) -> str:
    """Class, function and row of a test's id."""
    return test.partition("::")[2] or " ".join(test.split(".")[-2:])


def _shown(result: TestResult) -> str:
    lines = _SHOWN.findall(result.message)
    return "\n".join(lines or result.message.splitlines()[-6:])[:MAX_MESSAGE]


def _used(text: str) -> set[str]:
    """Names in a test's source, and the special methods that its operators call."""
    return set(re.findall(r"[^\W\d]\w*", text)) | {
        name for pattern, name in _OPERATORS if pattern.search(text)
    }


def _sources(
    baseline: Baseline, failing: Iterable[TestResult], read: Callable[[str], str | None]
) -> tuple[list[str], list[str]]:
    """The source of the failing tests, and of the other tests in their files."""
    wanted: dict[str, set[tuple[str, str]]] = {}
    for result in failing:
        for path in _paths(result.id):
            wanted.setdefault(path, set()).add(_function(result.id))
    sources: list[str] = []
    others: list[str] = []
    for path, names in list(wanted.items())[:MAX_FILES]:
        text = read(path)
        if text is None or len(text) > MAX_SIZE:
            continue
        for owner, name, source in _tests(text):
            own = (owner, name) in names or ("", name) in names
            (sources if own else others).append(source)
    return sources, others


def _paths(test: str) -> Iterator[str]:
    head, colons, _ = test.partition("::")
    if colons:
        yield head
        return
    steps = test.partition("[")[0].split(".")
    for count in range(len(steps) - 1, 0, -1):
        yield "/".join(steps[:count]) + ".py"


def _function(test: str) -> tuple[str, str]:
    """(class or "", function) of a test's id."""
    steps = re.split(r"::|\.(?!py\b)", test.partition("[")[0])
    return steps[-2] if len(steps) > 1 and steps[-2][:1].isupper() else "", steps[-1]


def _tests(text: str) -> Iterator[tuple[str, str, str]]:
    """(class or "", function, its text) of every test in a file, by its indentation."""
    classes = [(match.start(), match.group(1)) for match in _CLASS.finditer(text)]
    found = list(_TEST.finditer(text))
    ends = [match.start() for match in found[1:]] + [len(text)]
    for match, end in zip(found, ends, strict=False):  # a file that doesn't parse may have an end and no test
        owner = next((name for start, name in reversed(classes) if start < match.start()), "")
        source = text[match.end() : end]
        leave = re.compile(rf"^(?!{match.group(1)}[ \t])[ \t]*(?=[^\s)])", re.MULTILINE).search(source, 1)
        inside = source[: leave.start()] if leave else source
        yield owner if match.group(1) else "", match.group(2), inside
