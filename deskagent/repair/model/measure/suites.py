"""What checkpoints are measured on: lists to choose from, fixes that such lists are made of, and texts.

A file of fixes has one a line, as JSON: `path`, `before` and `after` (the file's text), and where they are known
`name`, `group` (or `repo`), `failure` (what failed) and `request`.
"""

from __future__ import annotations

import json
import lzma
import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from deskagent.errors import UsageError
from deskagent.repair.languages.code import CodeFile
from deskagent.repair.languages.known import tree_of
from deskagent.repair.languages.tree import Tree
from deskagent.repair.model.measure.choices import SIZE, Choice, choose, fix_of, parse
from deskagent.repair.model.measure.hunk import Hunk, near
from deskagent.repair.rank import iter_ranked
from deskagent.repair.source import SourceFile
from deskagent.repair.tokens import TokenStream
from deskagent.repair.types import Candidate

OWN = "own"
"""The name of the suite that comes with deskagent: programs written for it, each with one bug."""
LIMIT = 400
"""Candidates among which the right one is looked for."""
LARGEST = 60_000
"""Letters of a file: reading the tree of a longer one takes most of the time."""
_PIECE = 4000
"""Letters of a text that count as one case."""
_OWN = Path(__file__).with_name("own.jsonl.xz")


@dataclass(frozen=True, slots=True)
class Fix:
    """A file before and after. group: the repository or package that it is of."""

    name: str
    path: str
    before: str
    after: str
    group: str = ""
    failure: str = ""
    request: str = ""

    @classmethod
    def of(cls, facts: dict[str, Any], name: str) -> Fix:
        """Errors: ValueError."""
        texts = {key: facts.get(key, "") for key in ("path", "before", "after", "failure", "request")}
        wrong = [key for key, text in texts.items() if not isinstance(text, str)]
        if wrong or not texts["path"] or texts["before"] == texts["after"]:
            raise ValueError(
                f"{wrong[0]} is no text" if wrong else "a fix has a path, and after that isn't before"
            )
        group = facts.get("group") or facts.get("repo") or ""
        return cls(str(facts.get("name", name)), group=str(group), **texts)


@dataclass(frozen=True, slots=True)
class Suite:
    """Cases by name: choices and texts, either may be none. left: cases that nothing could be made of."""

    name: str
    choices: tuple[Choice, ...] = ()
    texts: tuple[str, ...] = ()
    left: int = 0


def read(wanted: str, count: int, seed: int = 0) -> Suite:
    """wanted: OWN, a file of fixes or of choices (.jsonl, .jsonl.xz), or a file or folder of texts. count: cases at
    most, drawn by the seed. Errors: UsageError."""
    path = _OWN if wanted == OWN else Path(wanted).expanduser()
    if path.name.endswith((".jsonl", ".jsonl.xz")):
        return _listed(path, wanted, count, seed)
    files = sorted(p for p in path.rglob("*") if p.is_file()) if path.is_dir() else [path]
    if not path.exists():
        raise UsageError(f"There is no suite {wanted}.", hint=f"Name a file or a folder, or say {OWN}.")
    pieces = [piece for file in files for piece in _pieces(file)]
    if not pieces:
        raise UsageError(f"{wanted} holds no text.", hint="Name a folder of text files in UTF-8.")
    return Suite(path.name, texts=tuple(_some(pieces, count, seed)))


def choice_of(
    fix: Fix,
    seed: int,
    right: Callable[[Candidate], bool] | None = None,
    limit: int = LIMIT,
    fewest: int = SIZE - 1,
) -> Choice | None:
    """The candidates of the statements near the fix, all equally suspicious, and the fix. right: says which are the
    fix; those of equal tokens, if not given. None where too few can be made, or the fix is not shown as a whole."""
    source = SourceFile.from_bytes(fix.path, fix.before.encode())
    syntax = tree_of(source)
    if syntax is None:
        return None
    after, hunk = fix.after.encode(), Hunk.of(source.utf8, fix.after.encode())
    if right is None:
        tokens = CodeFile(syntax).stream if isinstance(syntax, Tree) else TokenStream(source)
        wanted = tokens.key([hunk.edit(fix.path)])
        right = lambda candidate: candidate.key == wanted  # noqa: E731
    stream = iter_ranked(lambda _: source, near(syntax, hunk.line), request=fix.request)
    return choose(
        fix.name, stream, right, fix_of(syntax, after), random.Random(f"{seed} {fix.name}"), limit, fewest,
        group=fix.group, failure=fix.failure, request=fix.request,
    )  # fmt: skip


def fixes(path: Path) -> Iterator[Fix]:
    """Errors: UsageError for what is no such file."""
    for number, line in enumerate(_lines(path), 1):
        try:
            facts = json.loads(line)
            yield Fix.of(facts, f"{path.name}:{number}")
        except (ValueError, TypeError, AttributeError) as error:
            raise UsageError(f"{path}, line {number}: no fix: {error}") from error


def _listed(path: Path, wanted: str, count: int, seed: int) -> Suite:
    lines = _lines(path)
    if not lines:
        raise UsageError(f"{wanted} is empty.")
    if '"excerpts"' in lines[0]:
        try:
            found = [parse(line) for line in lines]
        except ValueError as error:
            raise UsageError(f"{wanted}: {error}") from error
        return Suite(path.name.partition(".")[0], tuple(_some(found, count, seed)))
    taken = _some(list(fixes(path)), count, seed)
    made = [choice_of(fix, seed, fewest=0) for fix in taken if len(fix.before) <= LARGEST]
    choices = tuple(one for one in made if one is not None)
    if not choices:
        raise UsageError(f"{wanted}: of no fix in it an edit can be made.")
    return Suite(path.name.partition(".")[0], choices, left=len(taken) - len(choices))


def _lines(path: Path) -> list[str]:
    try:
        raw = path.read_bytes()
        text = (lzma.decompress(raw) if path.suffix == ".xz" else raw).decode()
    except (OSError, lzma.LZMAError, UnicodeDecodeError) as error:
        raise UsageError(f"{path} can't be read: {error}") from error
    return [line for line in text.split("\n") if line.strip()]


def _pieces(file: Path) -> list[str]:
    """None of what is no text."""
    try:
        text = file.read_bytes().decode()
    except (OSError, UnicodeDecodeError):
        return []
    if "\0" in text:
        return []
    return [text[at : at + _PIECE] for at in range(0, len(text), _PIECE) if text[at : at + _PIECE].strip()]


def _some(several: list[Any], count: int, seed: int) -> list[Any]:
    """In their order."""
    chosen = sorted(random.Random(seed).sample(range(len(several)), min(count, len(several))))
    return [several[number] for number in chosen]
