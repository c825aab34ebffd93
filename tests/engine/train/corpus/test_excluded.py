from __future__ import annotations

import pytest

from engine.train.corpus.excluded import copied, excluded


@pytest.mark.parametrize(
    "name", ["toolz", "Python_dateutil", "more.itertools", "QuixBugs", "youtube_dl", "tomli"]
)
def test_what_is_measured_on_is_known_however_it_is_written(name: str) -> None:
    assert excluded(name)


def test_another_project_is_not() -> None:
    assert excluded("attrs") is None


@pytest.mark.parametrize(
    ("path", "answer"),
    [
        ("pip/_vendor/rich/text.py", True),
        ("setuptools/_vendor/tomli/_parser.py", True),
        ("tomllib/_parser.py", True),
        ("thing/dateutil.py", True),
        ("thing/third_party/x.py", True),
        ("json/decoder.py", False),
        ("pkg/click_handler.py", False),
    ],
)
def test_copies_are_told_by_their_folders(path: str, answer: bool) -> None:
    assert copied(path) is answer
