from __future__ import annotations

from random import Random

from engine.prompt.render import Marker
from engine.prompt.segments import text_of
from engine.train.corpus.files import Document
from engine.train.library import Library
from engine.train.make.language import lm

TEXT = "from p.core import helper\n\n\n" + "".join(
    f"def f{n}(x):\n    return helper(x, {n})\n\n\n" for n in range(40)
)
CORE = "import os\n\n\ndef helper(x, n):\n    return x + n\n\n\ndef other():\n    pass\n"
USER = Document("p", "p/user.py", "python", TEXT)
LIBRARY = Library([USER, Document("p", "p/core.py", "python", CORE)], 200)


def test_a_part_of_the_file_is_learnt() -> None:
    for seed in range(50):
        example = lm(LIBRARY, USER, Random(seed)) or []
        *_, last = [
            piece.segment for piece in example if isinstance(piece.segment, str) and piece.segment != "file"
        ]
        assert last in TEXT and TEXT[TEXT.index(last) - 1] in ("\n", TEXT[-1])


def test_what_is_imported_comes_before_in_some() -> None:
    made = [text_of([piece.segment for piece in lm(LIBRARY, USER, Random(seed)) or []]) for seed in range(50)]
    shown = [text for text in made if 'path="p/core.py"' in text]
    assert 5 < len(shown) < 45
    for text in shown:
        assert "def helper(x, n):\n    return x + n\n" in text and "def other" not in text
        assert text.index("p/core.py") < text.index("p/user.py")


def test_a_file_is_closed_where_it_ends_alone() -> None:
    short = Document("q", "q/a.md", "markdown", "one\n")
    whole = [piece.segment for piece in lm(LIBRARY, short, Random(0)) or []]
    assert whole == [Marker.OPEN, 'file path="q/a.md"', Marker.SEP, "one\n", Marker.CLOSE, "file", Marker.SEP]
    start = next(seed for seed in range(50) if Random(seed).random() >= 0.5)
    cut = [piece.segment for piece in lm(Library([USER], 20), USER, Random(start)) or []]
    assert Marker.CLOSE not in cut or len(cut[3]) <= 72
