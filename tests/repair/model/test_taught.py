"""What a checkpoint is taught of a place is what is asked about it."""

from __future__ import annotations

import random
import sysconfig
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

pytest.importorskip("numpy")

from deskagent.repair.model.excerpt import excerpt_of, shown
from deskagent.repair.source import SourceFile
from deskagent.repair.syntax import Syntax
from engine.prompt import edits
from engine.train.bugs import makers
from engine.train.bugs.excerpt import rows
from engine.train.bugs.parts import Part
from engine.train.corpus.files import Document

FILES = ("textwrap.py", "shlex.py", "heapq.py", "fractions.py", "csv.py", "calendar.py", "json/decoder.py")
STDLIB = Path(sysconfig.get_paths()["stdlib"])
DOCUMENTS = [Document("python", name, "python", (STDLIB / name).read_text("utf-8")) for name in FILES]


@given(st.sampled_from(DOCUMENTS), st.integers(0, 10**6), st.integers(1, 3))
@settings(max_examples=60, deadline=None)
def test_a_bug_is_shown_as_a_question_about_its_line_shows_it(
    document: Document, seed: int, number: int
) -> None:
    made = makers.put_into(document, random.Random(seed), number)
    if made is None:
        return
    part, done, found = made
    lines = [*part.lines[: part.first], *done.text.split("\n"), *part.lines[part.last :]]
    syntax = Syntax(SourceFile.from_bytes("a.py", "\n".join(lines).encode()))
    asked = {shown(excerpt_of(syntax, line).text) for line in range(part.first, part.last + 1)}
    assert found.shown in asked
    answer = edits.between(found.shown, found.meant)
    assert edits.apply(edits.parse(edits.write(answer)), found.shown) == found.meant != found.shown
    # mended, it stands in the file
    assert found.meant in document.text


LEVELS = st.integers(0, 3)
HEADS = (
    "def f(a):",
    "async def g(\n{0}    a,\n{0}):",
    "class C:",
    "@d\n{0}def h(): return 1",
    "if a:",
    "x = 'é'",
)


@st.composite
def files(draw: st.DrawFn) -> str:
    """Functions and classes in each other, with blank lines, comments and long bodies."""
    text = ""
    deepest = 0
    for _ in range(draw(st.integers(1, 14))):
        level = draw(st.integers(0, deepest))
        indent = "    " * level
        head = draw(st.sampled_from(HEADS))
        text += indent + head.format(indent) + "\n"
        opens = head.endswith(":")
        if opens:
            body = draw(st.sampled_from(["x = 1", "# told\n{0}    x = 1", "x = (\n{0}        1,\n{0}    )"]))
            text += (indent + "    " + body.format(indent) + "\n") * draw(st.sampled_from([1, 2, 7, 70]))
        text += draw(st.sampled_from(["", "\n", "\n\n"]))
        deepest = level + 1 if opens else level
    return text


@given(files())
@settings(max_examples=80, deadline=None)
def test_of_every_statement_the_same_lines_are_shown(text: str) -> None:
    syntax = Syntax(SourceFile.from_bytes("a.py", text.encode()))
    lines = text.split("\n")
    part = Part(lines, 0, 1)
    for line, node in syntax.by_line.items():
        if node.row != line - 1 or lines[line - 1].lstrip().startswith("@"):
            continue
        first, last = rows(part, lines, line - 1)
        found = excerpt_of(syntax, line)
        assert "\n".join(lines[first:last]).rstrip("\n") == shown(found.text), line
