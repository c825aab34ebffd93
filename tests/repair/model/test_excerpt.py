from __future__ import annotations

import pytest

from deskagent.repair.model.excerpt import excerpt_of, shown
from deskagent.repair.source import SourceFile
from deskagent.repair.syntax import Syntax
from deskagent.repair.types import Edit
from engine.prompt.excerpt import MOST_LETTERS, MOST_LINES

LONG = "def long(x):\n" + "".join(f"    x += {n}\n" for n in range(200)) + "    return x\n"
CODE = f"""import os

LIMIT = 3


class Shelf:
    size = 4

    @property
    def full(self):
        def inner():
            return 1
        return self.size

    def other(self):
        return 2


{LONG}"""


def syntax(code: str) -> Syntax:
    return Syntax(SourceFile.from_bytes("a.py", code.encode()))


def line_of(text: str, code: str = CODE) -> int:
    return code[: code.index(text)].count("\n") + 1


def test_a_function_is_shown_whole_with_what_decorates_it() -> None:
    for text in ("return self.size", "return 1", "def full"):
        found = excerpt_of(syntax(CODE), line_of(text))
        assert found.text.startswith("    @property\n    def full(self):") and found.text.endswith(
            "self.size\n"
        )


@pytest.mark.parametrize(
    "text", ["x += 0\n", "x += 7\n", "x += 100\n", "x += 199\n", "return x", "LIMIT = 3", "size"]
)
def test_of_a_long_function_or_none_some_lines_around_the_place_are_shown(text: str) -> None:
    line = line_of(text)
    found = excerpt_of(syntax(CODE), line)
    first = CODE.encode()[: found.start].count(b"\n") + 1
    count = found.text.count("\n")
    assert count <= MOST_LINES and first <= line < first + count
    assert text in found.text
    if "x +=" in text:
        assert first >= line_of("def long"), "nothing of what stands around the function"


def test_places_near_each_other_share_an_excerpt() -> None:
    shown = {excerpt_of(syntax(CODE), line_of(f"x += {n}\n")) for n in range(100)}
    assert len(shown) <= 10


def test_long_lines_are_shown_fewer() -> None:
    code = "def f(x):\n" + f"    x += {'1 + ' * 30}1\n" * 50
    found = excerpt_of(syntax(code), 25)
    assert 12 <= found.text.count("\n") < 20 and len(found.text) < MOST_LETTERS


def test_edits_outside_go_unsaid() -> None:
    code = "import os\n\n\ndef f(a):\n    return a\n"
    found = excerpt_of(syntax(code), 5)
    inside = Edit("a.py", code.index("return a"), len(code) - 1, "return b")
    above = Edit("a.py", 0, 0, "import re\n")
    assert found.edited([above, inside]) == "def f(a):\n    return b\n"
    assert found.edited([above]) is None
    assert found.edited([Edit("b.py", inside.start, inside.end, "x")]) is None


def test_line_ends_are_shown_alike() -> None:
    code = "def f(a):\r\n    return é\r\n"
    found = excerpt_of(syntax(code), 2)
    at = len("def f(a):\r\n    return é".encode())
    assert shown(found.text) == "def f(a):\n    return é"
    assert (
        shown(found.edited([Edit("a.py", at, at, "\r\n    pass")]) or "")
        == "def f(a):\n    return é\n    pass"
    )
