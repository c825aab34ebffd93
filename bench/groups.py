"""Groups to choose from: a bug put into a document, or none, and the repair's own typed edits of the excerpt that it
would ask a model about."""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from choices import difference

from deskagent.repair.candidates import python
from deskagent.repair.candidates.base import Place
from deskagent.repair.model.excerpt import Excerpt, excerpt_of, shown
from deskagent.repair.rank import iter_ranked
from deskagent.repair.scope import Scopes
from deskagent.repair.source import SourceFile
from deskagent.repair.syntax import Syntax
from deskagent.repair.tokens import TokenStream
from deskagent.repair.types import Edit, Suspect

if TYPE_CHECKING:
    from engine.prompt.edits import Edit as Change
    from engine.train.choices import Group
    from engine.train.corpus.files import Document

SIZE = 24
"""Candidates of a group."""
LEAST = 8
_FIRST = 12
"""Of the others, so many are the likeliest by the priors; the rest is drawn from those after."""
_MADE = 120
"""Candidates that are drawn from."""
_STATEMENTS = 5
"""That are suspected."""
_PROPOSALS = 2000
_AMONG = 600
"""Candidates among which a mend that somebody made is looked for."""
_SOUND = 0.12
"""Share of groups without a bug: to leave the excerpt as it is is right."""


@dataclass(frozen=True)
class Broken:
    """A file as text with a bug, and as it was. rows: 0-based, of the part that was looked at."""

    package: str
    path: str
    before: str
    after: str
    rows: range


def broken_of(document: Document, rng: random.Random) -> Broken | None:
    """With one bug, or, seldom, with none. None where this draw finds no place."""
    from engine.train.bugs import makers, parts

    if rng.random() < _SOUND:
        part = parts.choose(document, rng)
        if part is None:
            return None
        rows = range(part.first, part.last)
        return Broken(document.package, document.path, document.text, document.text, rows)
    made = makers.broken(document, rng, 1)
    if made is None:
        return None
    part, _, done = made
    lines = [*part.lines[: part.first], *done.text.split("\n"), *part.lines[part.last :]]
    rows = range(part.first, part.first + done.text.count("\n") + 1)
    return Broken(document.package, document.path, "\n".join(lines), document.text, rows)


def group_of(broken: Broken, rng: random.Random) -> Group | None:
    """None where the typed edits don't reach the mend, or are too few."""
    source = SourceFile.from_bytes(broken.path, broken.before.encode())
    syntax, stream = Syntax(source), TokenStream(source)
    if broken.before == broken.after:
        lines = [line for row in broken.rows if (line := _statement(syntax, row + 1))]
        return _sound(broken, syntax, rng.choice(lines), rng) if lines else None
    fix = difference(broken.path, source.utf8, broken.after.encode())
    wanted = stream.key((fix,))
    reached = _reached(syntax, stream, fix, wanted)
    if reached is None:
        return None
    line, edits = reached
    part = excerpt_of(syntax, line)
    if not part.start <= fix.start <= fix.end <= part.end:
        return None
    others, rank = _others(syntax, part, [line], rng, wanted)
    mended = part.edited(edits)
    if mended is None or shown(mended) == shown(part.text):
        return None
    grown = fix.new.count("\n") - source.utf8.count(b"\n", fix.start, fix.end)
    return _group(syntax, part, broken, others, (rank, shown(mended)), grown, rng)


def among(
    path: str, before: str, after: str, excerpt: str, rng: random.Random
) -> tuple[int, list[tuple[Change, ...]], int] | None:
    """Of a file that was mended within `excerpt`, whole lines of it: the rank, from 0, of the typed edit that mends it
    among those of some of the excerpt's statements; answers, the likeliest first; and which of them is right. None
    where the typed edits don't reach the mend, or are too few."""
    source = SourceFile.from_bytes(path, before.encode())
    syntax, stream = Syntax(source), TokenStream(source)
    fix = difference(path, source.utf8, after.encode())
    wanted = stream.key((fix,))
    reached = _reached(syntax, stream, fix, wanted)
    if reached is None:
        return None
    line, edits = reached
    at = f"\n{before}\n".index(f"\n{excerpt}\n")
    start = len(before[:at].encode())
    part = Excerpt(path, start, start + len(excerpt.encode()), excerpt)
    mended = part.edited(edits)
    if mended is None:
        return None
    others, rank = _others(syntax, part, [line], rng, wanted, _AMONG)
    answers, right = _answers(excerpt, others, (rank, mended), rng)
    return None if len(answers) < LEAST or right < 0 else (rank, answers, right)


def _sound(broken: Broken, syntax: Syntax, line: int, rng: random.Random) -> Group | None:
    part = excerpt_of(syntax, line)
    others, _ = _others(syntax, part, [line], rng, "")
    return _group(syntax, part, broken, others, None, 0, rng)


def _reached(
    syntax: Syntax, stream: TokenStream, fix: Edit, wanted: str
) -> tuple[int, tuple[Edit, ...]] | None:
    """The line of the suspect and the edits of a typed edit that makes the same tokens of the file as the fix."""
    code = syntax.source.utf8
    first = code.count(b"\n", 0, fix.start) + 1
    last = max(first + 1, code.count(b"\n", 0, fix.end))
    size = _letters(fix.new) - _letters(code[fix.start : fix.end].decode())
    scopes = Scopes(syntax)
    rows = dict.fromkeys(
        line for row in (*range(first, last + 1), first - 1) if (line := _statement(syntax, row))
    )
    for line in list(rows)[:4]:
        place = Place(syntax, scopes, syntax.by_line[line])
        for proposal in itertools.islice(python.propose(place), _PROPOSALS):
            told = sum(_letters(new) - _letters(code[a:b].decode()) for a, b, new in proposal.edits)
            if abs(told - size) > 2:
                continue
            edits = tuple(Edit(syntax.source.path, *one) for one in proposal.edits)
            if stream.key(edits) == wanted:
                return line, edits
    return None


def _others(
    syntax: Syntax, part: Excerpt, lines: list[int], rng: random.Random, wanted: str, most: int = _MADE
) -> tuple[list[tuple[int, str]], int]:
    """Rank and text of other candidates of the excerpt; the rank of the wanted one, behind all others where it is not
    come to."""
    code = syntax.source.utf8
    first = code.count(b"\n", 0, part.start) + 1
    last = first + part.text.rstrip("\n").count("\n")
    near = sorted({line for row in range(first, last + 1) if (line := _statement(syntax, row))} - set(lines))
    near = [line for line in near if first <= line <= last]
    chosen = [*lines, *rng.sample(near, min(_STATEMENTS - len(lines), len(near)))]
    suspects = [Suspect(part.path, line, 1.0) for line in sorted(chosen)]
    made = iter_ranked(lambda _: syntax.source, suspects)
    found: dict[str, int] = {}
    place = most
    for rank, ranked in enumerate(itertools.islice(made, most)):
        if wanted and ranked.candidate.key == wanted:
            place = rank
            continue
        text = part.edited(ranked.candidate.edits)
        if text is not None and shown(text) != shown(part.text):
            found.setdefault(shown(text), rank)
    return [(rank, text) for text, rank in found.items()], place


def _group(
    syntax: Syntax,
    part: Excerpt,
    broken: Broken,
    others: list[tuple[int, str]],
    right: tuple[int, str] | None,
    grown: int,
    rng: random.Random,
) -> Group | None:
    from engine.prompt.edits import apply, between
    from engine.train.choices import Group

    before = shown(part.text)
    first = syntax.source.utf8.count(b"\n", 0, part.start)
    last = first + before.count("\n") + 1 + grown
    meant = "\n".join(broken.after.split("\n")[first:last])
    mutation = between(meant, before)
    if apply(mutation, meant) != before:
        return None
    answers, at = _answers(before, others, right, rng)
    if len(answers) < LEAST or (right is not None and at < 0):
        return None
    return Group(broken.package, broken.path, first, last, tuple(mutation), tuple(answers), at)


def _answers(
    before: str, others: list[tuple[int, str]], right: tuple[int, str] | None, rng: random.Random
) -> tuple[list[tuple[Change, ...]], int]:
    """SIZE edits of an excerpt at most, and which of them is right; −1 where none is."""
    from engine.prompt.edits import between, write
    from engine.train.bugs.answer import LARGEST

    others = [(rank, text) for rank, text in others if right is None or text != right[1]]
    room = SIZE - (right is not None)
    likely = others[:_FIRST]
    taken = likely + rng.sample(others[_FIRST:], min(room - len(likely), len(others) - len(likely)))
    answers = [
        (rank, tuple(between(before, text)), text == (right and right[1]))
        for rank, text in [*taken, *_one(right)]
    ]
    answers = [one for one in answers if len(write(one[1])) <= LARGEST]
    answers.sort(key=lambda one: one[0])
    return [edits for _, edits, _ in answers], next((i for i, one in enumerate(answers) if one[2]), -1)


def _one(right: tuple[int, str] | None) -> Iterator[tuple[int, str]]:
    if right is not None:
        yield right


def _statement(syntax: Syntax, line: int) -> int | None:
    node = syntax.by_line.get(line)
    return None if node is None else node.line


def _letters(text: str) -> int:
    return len("".join(text.split()))
