"""A model's answers held to what a file allows: real files, answers as a model might write them."""

from __future__ import annotations

import pytest

from deskagent.repair.model.excerpt import excerpt_of, shown
from deskagent.repair.model.writer.edit import OPERATOR, Editor
from deskagent.repair.model.writer.names import Names
from deskagent.repair.source import SourceFile
from deskagent.repair.syntax import Syntax
from deskagent.repair.tokens import TokenStream

CODE = (
    "import os\n\nLIMIT = 3\n\n\ndef area(width, height):\n    found = []\n    for row in range(width):\n"
    "        found.append(row + height)\n    return found\n"
)


def editor(code: str = CODE, others: tuple[str, ...] = ()) -> Editor:
    syntax = Syntax(SourceFile.from_bytes("a.py", code.encode()))
    beside = [Syntax(SourceFile.from_bytes("b.py", other.encode())) for other in others]
    return Editor(syntax, TokenStream(syntax.source), Names(syntax, beside))


def written(made: Editor, line: int, old: str, new: str):
    excerpt = excerpt_of(made.syntax, line)
    before = shown(excerpt.text)
    assert old in before
    candidate = made.candidate(excerpt, before.replace(old, new, 1))
    if candidate is None:
        return None
    return made.syntax.source.apply(candidate.edits).decode(made.syntax.source.encoding), candidate


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize(
    ("line", "old", "new"),
    [
        (9, "row + height", "row * height"),
        (9, "    found = []\n", "    found = []\n    width = max(width, 1)\n"),
        (9, "    return found", "    return sorted(found, key=len)"),
        (9, "def area", "LOW = 1\ndef area"),
        (9, "    found = []\n", ""),
        (9, "    for row in range(width):\n        found", "    if width:\n        found"),
        (9, "row + height)", "row + height)\n        print(found[:LIMIT])"),
        (9, "    return found", "    total = sum(x for x in found)\n    return total"),
        (9, "    return found", "    return list(map(lambda x: x + 1, found))"),
        (9, "    return found", "    import math\n    return math.prod(found)"),
        (9, "    return found", "    return os.path.join(found)"),
        (9, "found.append(row", "found.append(end=row"),
        (3, "LIMIT = 3", "LIMIT = 4"),
        (1, "import os", "import os\nimport sys"),
    ],
)
def test_an_answer_is_that_edit_of_the_file(line, old, new, end) -> None:
    code = CODE.replace("\n", end)
    made = editor(code)
    text = written(made, line, old, new)
    assert text is not None
    assert text[0] == code.replace(old.replace("\n", end), new.replace("\n", end), 1)
    assert text[1].operator == OPERATOR and text[1].path == "a.py" and "the model writes" in text[1].note


def test_a_file_without_a_last_line_end_keeps_none() -> None:
    code = CODE.removesuffix("\n")
    text = written(editor(code), 9, "return found", "return found[::-1]")
    assert text is not None and text[0] == code + "[::-1]"
    text = written(editor(code), 9, "    return found", "    return found\n    return width")
    assert text is not None and text[0] == code + "\n    return width"


@pytest.mark.parametrize(
    "new",
    [
        "row +* height",  # is no Python
        "row + heigth",  # a name that is nowhere
        "row.shape + height",  # an attribute that is nowhere
        "helper(row, height)",
        "row  +  height",  # layout alone
        "row + height",
        "row + torch.height",
    ],
)
def test_what_the_file_does_not_allow_is_refused(new) -> None:
    assert written(editor(), 9, "row + height", new) is None


def test_names_of_files_beside_it_may_be_attributes_and_nothing_else() -> None:
    beside = ("class Row:\n    shape = 3\n",)
    assert written(editor(others=beside), 9, "row + height", "row.shape + height") is not None
    assert written(editor(others=beside), 9, "row + height", "shape + height") is None


def test_what_was_made_is_not_made_again() -> None:
    made = editor()
    assert written(made, 9, "row + height", "row - height") is not None
    assert written(made, 9, "row + height", "row  - height") is None


def test_a_letter_that_the_encoding_lacks_is_refused() -> None:
    code = "# coding: latin-1\n" + CODE
    assert written(editor(code), 10, "return found", "return 'é'") is not None
    assert written(editor(code), 10, "return found", "return '→'") is None
