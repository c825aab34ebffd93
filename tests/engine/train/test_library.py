from __future__ import annotations

from collections import Counter
from random import Random

from engine.train.corpus.files import Document
from engine.train.library import Library, module


def document(path: str, text: str, package: str = "p", language: str = "python") -> Document:
    return Document(package, path, language, text)


def test_documents_are_drawn_by_size() -> None:
    small, large = document("a.py", "x" * 100), document("b.py", "x" * 900)
    library, random = Library([small, large], 64), Random(0)
    drawn = Counter(library.draw(random).path for _ in range(2000))
    assert 1700 < drawn["b.py"] < 1900


def test_imports_are_found_within_the_package() -> None:
    user = document(
        "p/sub/user.py", "from p.core import run, stop as halt\nfrom ..other import thing\nfrom . import x\n"
    )
    core, other = document("p/core.py", "def run(): 1"), document("p/other/__init__.py", "thing = 1")
    stranger = document("p/core.py", "def run(): 2", package="q")
    found = Library([stranger, user, core, other], 64).imported(user)
    assert found == [(core, ["run", "stop"]), (other, ["thing"])]


def test_a_package_imports_from_beside_itself() -> None:
    init, part = (
        document("p/__init__.py", "from .part import (\n    a,\n    b,\n)\n"),
        document("p/part.py", "a = b = 1"),
    )
    assert Library([init, part], 64).imported(init) == [(part, ["a", "b"])]


def test_more_dots_than_folders_find_nothing() -> None:
    lost = document("p/a.py", "from ....far import x\n")
    assert Library([lost], 64).imported(lost) == []


def test_modules_have_names() -> None:
    assert module("p/q/r.py") == "p.q.r"
    assert module("p/q/__init__.py") == "p.q"
