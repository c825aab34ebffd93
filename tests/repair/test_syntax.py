import pytest

from deskagent.repair.source import SourceFile
from deskagent.repair.syntax import Syntax, function_of, own_nodes, own_rows
from deskagent.repair.types import Edit

CODE = '''import os

class A:
    """Doc."""

    @property
    def f(self, n: int = 3) -> str:
        """Doc
        more."""
        for i in range(
            n
        ):
            if i:
                return str(
                    i
                )
            elif n:
                pass
            else:
                n = 1; n = 2
        return ""
'''


def tree(code: str = CODE) -> Syntax:
    return Syntax(SourceFile.from_bytes("x.py", code.encode()))


def test_lines_belong_to_the_innermost_statement():
    kinds = {line: node.kind for line, node in tree().by_line.items()}
    assert kinds[1] == "import_statement"
    assert kinds[7] == "function_definition"
    assert kinds[10] == kinds[11] == kinds[12] == "for_statement"
    assert kinds[13] == "if_statement"
    assert kinds[14] == kinds[16] == "return_statement"
    assert kinds[17] == "elif_clause"
    assert kinds[20] == "expression_statement"
    assert tree().by_line[20].text == "n = 1"


def test_own_text_leaves_bodies_docstrings_and_annotations_out():
    syntax = tree()
    header = syntax.by_line[10]
    assert own_rows(header) == (9, 11)
    assert {n.text for n in own_nodes(header) if n.kind == "identifier"} == {"i", "range", "n"}
    assert list(own_nodes(syntax.by_line[8])) == []
    assert not any(n.text == "int" for n in own_nodes(syntax.by_line[7]))
    function = function_of(syntax.by_line[14])
    assert function is not None and function.line == 7


@pytest.mark.parametrize(
    ("code", "unit"), [("if x:\n\ty = 1\n", "\t"), ("if x:\n  y = 1\n", "  "), ("x = 1\n", "    ")]
)
def test_indentation_unit(code, unit):
    assert tree(code).unit == unit


def test_line_ends_and_lone_carriage_returns():
    assert tree("a = 1\r\nb = 2\r\n").line_end(0) == 5
    assert tree("a = 1\rb = 2\r").by_line[2].text == "b = 2"
    assert tree("a = 1").line_end(0) == 5
    assert tree("").by_line == {}


@pytest.mark.parametrize(
    ("old", "new", "good"),
    [
        ("n = 1;", "n = 3;", True),
        ("return str(", "return str((", False),
        ('return ""', "break", False),
        ('return ""', "return 1", True),
        ("import os", "return", False),
        ("import os", "import os, sys", True),
    ],
)
def test_still_parses(old, new, good):
    start = CODE.index(old)
    assert tree().still_parses([Edit("x.py", start, start + len(old), new)]) is good


def test_code_of_another_python_is_checked_by_the_grammar():
    syntax = tree("print 'a'\nx = 1\n")
    assert syntax.error is not None and not syntax.slipped
    assert syntax.still_parses([Edit("x.py", 14, 15, "2")])
    assert not syntax.still_parses([Edit("x.py", 14, 15, "((")])


def test_a_repair_of_a_broken_file_has_to_compile():
    syntax = tree("def f(x)\n    return x\n")
    assert syntax.slipped
    assert syntax.still_parses([Edit("x.py", 8, 8, ":")])
    assert not syntax.still_parses([Edit("x.py", 8, 8, " ")])


METHODS = """class A:
    def f(self):
        return 1

    def g(self):
        return 2
x = A()
"""


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("return 1", "return (1"),
        ("return 1", "return 1 +"),
        ("return 1", "pass\\"),
        ("return 1", "break"),
        ("return 1", "yield 1"),
        ("return 1", "nonlocal x"),
        ("return 1", 's = """'),
        ("return 1", "return 1\nx = 1"),
        ("return 2", "return 2\ny = 2"),
        ("return 1", "return 1\n    y = 1"),
        ("return 1", "return 1\n  y = 1"),
        ("return 1\n\n", "return 1\n\n    @x\n"),
        ("return 2", "return 2\n    @x"),
        ("return 2", "return 2  # end"),
        ("(self):\n        return 1", ":\n        return 1"),
        ("self", "self, self"),
    ],
)
def test_an_edit_of_a_method_is_judged_as_the_whole_file_is(old, new):
    start = METHODS.index(old)
    try:
        compile(METHODS.replace(old, new, 1), "x.py", "exec")
        good = True
    except SyntaxError:
        good = False
    assert tree(METHODS).still_parses([Edit("x.py", start, start + len(old), new)]) is good
