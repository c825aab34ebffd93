"""Questions whose right answer somebody made: what is read, and what is to be learnt."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest

pytest.importorskip("numpy")

from engine.errors import CheckpointError
from engine.prompt.edits import Edit, apply, write
from engine.prompt.segments import text_of
from engine.train.corpus.files import Document
from engine.train.edits import record
from engine.train.edits.record import Mend
from engine.train.library import Library
from engine.train.make.chosen import chosen
from engine.train.make.makers import Stock, makers

SHOWN = "def f(a, b):\n    return a > b"
RIGHT = (Edit(2, ">", "<"),)
MEND = Mend("p", "p/a.py", "f", "comparison", SHOWN, RIGHT, ((Edit(2, "a", "b"),), RIGHT), 1)
NO_CHOICE = Mend("p", "p/b.py", "f", "comparison", SHOWN, RIGHT)
DOCUMENT = Document("q", "q/b.py", "python", "")
DATA = Path(__file__).parents[4] / "assets" / "train"


def stock(folder: Path, *mends: Mend) -> Stock:
    record.write(folder / "edits-train.xz", mends)
    return Stock(Library([DOCUMENT], 1000), folder, "train")


def test_the_mend_is_right(tmp_path: Path) -> None:
    make = makers(["chosen"], stock(tmp_path, MEND, NO_CHOICE))["chosen"]
    choice = make(DOCUMENT, Random(0))
    asked = text_of(piece.segment for piece in choice.question)
    assert "1|def f(a, b):\n2|    return a > b" in asked
    assert not any(piece.learn for piece in choice.question)
    assert [answer[0] for answer in choice.answers] == ["2\n-a\n+b\n", "2\n->\n+<\n", "none\n"]
    assert choice.right == 1


def test_mends_without_a_choice_make_none(tmp_path: Path) -> None:
    with pytest.raises(CheckpointError, match=r"bench/mends\.py"):
        makers(["chosen"], stock(tmp_path, NO_CHOICE))


@pytest.mark.parametrize("half", ["train", "held"])
def test_the_answer_called_right_alone_makes_what_was_made(half: str) -> None:
    some = [mend for mend in record.read(DATA / f"edits-{half}.xz") if mend.right >= 0]
    assert some
    for mend in some:
        meant = apply(mend.edits, mend.shown).split()
        same = [n for n, edits in enumerate(mend.answers) if apply(edits, mend.shown).split() == meant]
        assert same in ([mend.right], []), mend  # none where layout or a comment differs
        assert len({write(edits) for edits in mend.answers}) == len(mend.answers)
        assert chosen([mend], DOCUMENT, Random(0)).right == mend.right
