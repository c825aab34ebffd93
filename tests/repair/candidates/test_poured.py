"""What the file asks and makes elsewhere is asked and made here: the edit is among the candidates of its line."""

import pytest

from deskagent.repair.candidates.base import Place
from deskagent.repair.candidates.moulds import asking, conditions, making, values
from deskagent.repair.scope import Scopes
from deskagent.repair.source import SourceFile
from deskagent.repair.syntax import Syntax

HEAD = (
    "from kinds import Leaf\n\n\ndef tidy(text):\n    return text.strip()\n\n\n"
    "def other(branch, title):\n    if isinstance(branch, Leaf) or branch.kind == 'bud':\n"
    "        return tidy(title)\n\n\n"
)
CASES = {
    "a term as asked elsewhere": (
        "def grow(tree, twig):\n    if tree.tall:\n        return twig\n    return tree\n", "    if tree.tall:",
        "    if tree.tall and isinstance(twig, Leaf):",
    ),
    "a term of an attribute asked elsewhere": (
        "def grow(twig):\n    if twig is None:\n        return 1\n    return 2\n", "    if twig is None:",
        "    if twig is None or twig.kind == 'bud':",
    ),
    "a term within a chain": (
        "def grow(twig, day):\n    if twig and day > 3:\n        return 1\n    return 2\n", "    if twig and day > 3:",
        "    if twig and isinstance(twig, Leaf) and day > 3:",
    ),
    "a way out": (
        "def grow(twig):\n    twig.bend()\n    return twig\n", "    twig.bend()",
        "    if twig.kind == 'bud':\n        return twig\n    twig.bend()",
    ),
    "under a condition": (
        "def grow(twig):\n    twig.bend()\n", "    twig.bend()", "    if isinstance(twig, Leaf):\n        twig.bend()",
    ),
    "put through a call": ("def name(word):\n    send(word)\n", "    send(word)", "    send(tidy(word))"),
    "its own method": ("def name(word):\n    send(word)\n", "    send(word)", "    send(word.strip())"),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_the_edit_is_among_the_candidates(case, made):
    text, old, new = CASES[case]
    whole = HEAD + text
    line = whole[: whole.index(text) + text.index(old)].count("\n") + 1
    wanted = whole.replace(old, new, 1) if whole.count(old) == 1 else ""
    assert wanted in {after for after, _ in made(whole, line, limit=2000)}


def place(text: str, line: int) -> Place:
    syntax = Syntax(SourceFile.from_bytes("a.py", text.encode()))
    return Place(syntax, Scopes(syntax), syntax.by_line[line])


def test_moulds_read_only_names_that_are_there():
    text = "def one(a):\n    hidden = 1\n    return a == hidden\n\n\ndef two(b):\n    return b\n"
    assert "b == hidden" not in {text for text, *_ in conditions(place(text, 7), 60)}
    assert "a == hidden" in {text for text, *_ in conditions(place(text, 3), 60)}


def test_the_statements_own_values_come_first():
    found = [text for text, _ in values(place("def f(a, b, c):\n    c()\n    return b\n", 3))]
    assert found[0] == "b" and "a" in found


def test_a_method_with_constants_and_a_function_make_moulds():
    text = "def f(a):\n    x = a.split(',')\n    y = join(a, 3)\n    return x, y\n\n\ndef join(a, b): ...\n"
    forms = {mould.of("z") for mould, _ in making(place(text, 4))}
    assert {"z.split(',')", "join(z, 3)", "str(z)"} <= forms
    assert "z is None" in {mould.of("z") for mould, _ in asking(place(text, 4))}


def test_the_same_text_gives_the_same_order():
    text = HEAD + "def grow(tree, twig):\n    if tree.tall:\n        return twig\n"
    line = text.count("\n") - 1
    assert conditions(place(text, line), 60) == conditions(place(text, line), 60)
