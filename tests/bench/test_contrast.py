"""Groups to choose from: what they hold, and going on after a stop."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("torch")
pytest.importorskip("engine.train.bugs.put")

import contrast
import groups

from deskagent.repair.model.excerpt import excerpt_of, shown
from deskagent.repair.source import SourceFile
from deskagent.repair.syntax import Syntax
from engine.prompt.edits import apply, write
from engine.train.choices import parsed
from engine.train.corpus.files import Document

CODE = """import os


def largest(items, low=0, high=10):
    best = None
    for item in items:
        if item < low or item > high:
            continue
        if best is None or item > best:
            best = item
    return best


def split(text, sign):
    parts = []
    for part in text.split(sign):
        if part.strip():
            parts.append(part.strip())
    return parts
"""
DOCUMENTS = [Document("p", "p/a.py", "python", CODE), Document("p", "p/b.md", "markdown", "# text\n" * 50)]
LINES = CODE.split("\n")


@pytest.fixture(scope="module")
def out(tmp_path_factory) -> Path:
    path = tmp_path_factory.mktemp("groups") / "out.jsonl"
    at = contrast.go(DOCUMENTS, path, 8, 0)
    assert at.made == 8 and 0 < at.reached <= at.bugs
    return path


def test_a_group_is_a_choice_of_real_edits(out: Path) -> None:
    made = list(parsed(out.read_text("utf-8")))
    assert {group.path for group in made} == {"p/a.py"}
    assert {bool(group.mutation) for group in made} >= {True}
    for group in made:
        assert groups.LEAST <= len(group.answers) <= groups.SIZE
        assert len({write(edits) for edits in group.answers}) == len(group.answers)
        assert (group.right >= 0) == bool(group.mutation)


def test_the_right_one_alone_mends_the_excerpt(out: Path) -> None:
    for group in parsed(out.read_text("utf-8")):
        meant = "\n".join(LINES[group.first : group.last])
        excerpt = apply(group.mutation, meant)
        mended = [apply(edits, excerpt).split() == meant.split() for edits in group.answers]
        assert [number for number, right in enumerate(mended) if right] == [group.right] * (group.right >= 0)


def test_the_excerpt_is_what_a_search_would_show(out: Path) -> None:
    for group in parsed(out.read_text("utf-8")):
        excerpt = apply(group.mutation, "\n".join(LINES[group.first : group.last]))
        lines = [*LINES[: group.first], *excerpt.split("\n"), *LINES[group.last :]]
        syntax = Syntax(SourceFile.from_bytes("p/a.py", "\n".join(lines).encode()))
        assert shown(excerpt_of(syntax, group.first + 1).text) == excerpt


def test_it_goes_on_where_it_was_stopped(tmp_path: Path) -> None:
    whole, parts = tmp_path / "whole.jsonl", tmp_path / "parts.jsonl"
    contrast.go(DOCUMENTS, whole, 4, 2)
    contrast.go(DOCUMENTS, parts, 2, 2)
    with parts.open("a", encoding="utf-8") as file:
        file.write('["half a li')  # killed while it wrote
    contrast.go(DOCUMENTS, parts, 4, 2)
    assert parts.read_bytes() == whole.read_bytes()
    with pytest.raises(SystemExit, match="seed 2"):
        contrast.go(DOCUMENTS, parts, 5, 3)
