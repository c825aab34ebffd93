from __future__ import annotations

import random
import sysconfig
from pathlib import Path

import pytest

from engine.train.corpus.files import Document, read

FILES = (
    "textwrap.py", "shlex.py", "heapq.py", "fractions.py", "csv.py", "string.py", "posixpath.py", "calendar.py",
    "json/decoder.py", "http/cookies.py", "asyncio/queues.py", "configparser.py",
)  # fmt: skip


@pytest.fixture(scope="session")
def library() -> list[Document]:
    """Files of the standard library."""
    root = Path(sysconfig.get_paths()["stdlib"])
    return [document for name in FILES if (document := read("python", root, name)) is not None]


@pytest.fixture
def rng() -> random.Random:
    return random.Random(5)
