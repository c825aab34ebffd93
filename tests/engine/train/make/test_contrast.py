"""Questions with real candidates: what of them is read, and what is to be learnt."""

from __future__ import annotations

import lzma
from random import Random

import pytest

pytest.importorskip("numpy")

from engine.errors import CheckpointError
from engine.prompt.edits import Edit
from engine.prompt.render import Marker
from engine.prompt.segments import text_of
from engine.train import choices
from engine.train.choices import Group
from engine.train.corpus.files import Document
from engine.train.make.contrast import contrast, drawn

TEXT = "import os\n\n\ndef f(a, b):\n    return a < b\n"
DOCUMENT = Document("p", "p/a.py", "python", TEXT)
BUG = Group(
    "p", "p/a.py", 3, 5, (Edit(2, "<", ">"),), ((Edit(2, "a", "b"),), (Edit(2, ">", "<"),), (Edit(2, "b", "a"),)), 1
)  # fmt: skip
SOUND = Group("p", "p/a.py", 3, 5, (), ((Edit(2, "<", "<="),), (Edit(2, None, "    pass"),)), -1)


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "contrast-train.xz"
    choices.write(path, [BUG, SOUND])
    return path


def test_groups_come_back_as_they_were_written(file) -> None:
    assert choices.read(file) == [BUG, SOUND]


def test_the_mend_is_right(file) -> None:
    groups = [pair for pair in drawn(file, [DOCUMENT]) if pair[0] == BUG]
    choice = contrast(groups, DOCUMENT, Random(0))
    asked = text_of(piece.segment for piece in choice.question)
    assert "1|def f(a, b):\n2|    return a > b" in asked
    assert not any(piece.learn for piece in choice.question)
    assert [answer[0] for answer in choice.answers] == ["2\n-a\n+b\n", "2\n->\n+<\n", "2\n-b\n+a\n", "none\n"]
    assert all(answer[1:] == [Marker.CLOSE] for answer in choice.answers)
    assert choice.right == 1


def test_right_code_stays_as_it_is(file) -> None:
    groups = [pair for pair in drawn(file, [DOCUMENT]) if pair[0] == SOUND]
    choice = contrast(groups, DOCUMENT, Random(0))
    assert "2|    return a < b" in text_of(piece.segment for piece in choice.question)
    assert choice.answers[choice.right][0] == "none\n"


def test_groups_of_other_documents_are_left_out(file) -> None:
    other = Document("q", "p/a.py", "python", TEXT)
    assert len(drawn(file, [DOCUMENT, other])) == 2
    with pytest.raises(CheckpointError, match=r"bench/contrast\.py"):
        drawn(file, [other])


@pytest.mark.parametrize("text", ["{", '["p","a.py",0,1,[],[[]],1]\n', '["p"]\n'])
def test_damage_is_told(file, text) -> None:
    file.write_bytes(lzma.compress(text.encode()))
    with pytest.raises(CheckpointError, match="no groups"):
        choices.read(file)
    file.write_bytes(b"rubbish")
    with pytest.raises(CheckpointError, match="no groups"):
        choices.read(file)
