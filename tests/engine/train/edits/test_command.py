"""From releases to what training reads, by the command, with the real pip on a folder of wheels."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from random import Random

import pytest

pytest.importorskip("numpy")

from engine.prompt.edits import Edit
from engine.prompt.segments import text_of
from engine.train.corpus import lock as corpus
from engine.train.corpus.files import Document
from engine.train.corpus.lock import Package
from engine.train.edits import lock, record
from engine.train.edits.record import Mend
from engine.train.make.edited import edited

ROOT = Path(__file__).parents[4]
TEXT = '''"""Words that make it long enough to be worth reading, and then some more of those, and a second sentence.
"""


def {name}(values, limit):
    for value in values:
        if value {sign} limit:
            return value
    return {value}
'''


def text(sign: str, name: str = "first", value: str = "None") -> str:
    return TEXT.format(sign=sign, name=name, value=value)


def call(folder: Path, index: Path):
    return subprocess.run(
        [
            sys.executable, "-m", "engine.train.edits", "edits.lock", ".", "--corpus", "corpus.lock",
            "--wheels", "wheels",
        ],
        cwd=folder,
        env=os.environ
        | {"PYTHONPATH": str(ROOT), "PIP_NO_INDEX": "1", "PIP_FIND_LINKS": str(index), "PIP_CONFIG_FILE": os.devnull},
        capture_output=True, text=True, check=False,
    )  # fmt: skip


def test_the_command_goes_on_and_repeats_itself(tmp_path, index, wheel):
    for version, sign in (("1.0", "<"), ("1.1", "<="), ("1.2", "=="), ("1.3", "!=")):
        licence = "GPL-3.0-only" if version == "1.2" else "MIT"
        wheel("learnt", version, {"learnt/a.py": text(sign)}, licence)
    for version, sign in (("1", "<"), ("2", "<=")):
        files = {"kept/a.py": text(sign), "kept/b.py": text(sign, "second", "limit")}
        wheel("kept", version, files)
    locked = [Package("learnt", "1.3", "MIT", "train", ""), Package("kept", "2", "MIT", "held", "")]
    corpus.write(tmp_path / "corpus.lock", [*locked, Package("python", "3", "PSF-2.0", "train", "")])

    done = call(tmp_path, index)
    assert done.returncode == 0, done.stderr
    known = lock.read(tmp_path / "edits.lock")
    assert {name: list(each.wheels) for name, each in known.items()} == {
        "learnt": ["1.0", "1.1", "1.2", "1.3"], "kept": ["1", "2"]
    }  # fmt: skip
    train, held = (record.read(tmp_path / f"edits-{half}.xz") for half in ("train", "held"))
    assert [(mend.name, mend.edits[0].old, mend.edits[0].new) for mend in train] == [
        ("first", "<", "<="), ("first", "<=", "!=")
    ], "nothing is taken from a release without a permissive licence"  # fmt: skip
    assert [mend.name for mend in held] == ["second"], "what is learnt from isn't held out"

    before = (tmp_path / "edits-train.xz").read_bytes()
    again = call(tmp_path, tmp_path / "nowhere")
    assert again.returncode == 0, again.stderr
    assert (tmp_path / "edits-train.xz").read_bytes() == before
    next((tmp_path / "wheels").glob("kept-2-*")).write_bytes(b"other")
    refused = call(tmp_path, index)
    assert refused.returncode == 2 and "isn't the one that was locked" in refused.stderr


def test_a_mend_is_asked_for_as_a_bug_is():
    shown = text("<").rstrip("\n").partition("\n\n\n")[2]
    mend = Mend("p", "p/a.py", "first", "comparison", shown, (Edit(3, "<", "<="),))
    document = Document("q", "q/b.py", "python", "")
    told = set()
    for seed in range(40):
        example = edited([mend], document, Random(seed))
        assert example is not None
        asked = text_of(piece.segment for piece in example if not piece.learn)
        assert "3|        if value < limit:" in asked
        assert "3\n-<\n+<=\n" in text_of(piece.segment for piece in example if piece.learn)
        told.add("first is wrong" in asked)
    assert told == {True, False}, "sometimes in words of a user"
