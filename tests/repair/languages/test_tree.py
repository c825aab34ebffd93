import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deskagent.repair.languages.known import tree_of
from deskagent.repair.source import SourceFile
from deskagent.repair.types import Edit

pytest.importorskip("tree_sitter_go")
pytest.importorskip("tree_sitter_javascript")

SCRIPT = "export function f(a, b) {\n  if (a) return b; // ü\n  return g(() => {\n    a++;\n  });\n}\n"
GO = "package p\n\nfunc f(a, b int) int {\n\tfor i := 0; i < a; i++ {\n\t\tb++\n\t}\n\treturn b\n}\n"


def tree(path, text):
    found = tree_of(SourceFile.from_bytes(path, text.encode()))
    assert found is not None
    return found


def test_statements_own_their_lines():
    found = tree("a.js", SCRIPT)
    kinds = {line: node.kind for line, node in found.by_line.items()}
    assert kinds == {
        1: "function_declaration",
        2: "if_statement",
        3: "return_statement",
        4: "expression_statement",
        5: "return_statement",
    }
    assert [node.kind for node in found.at(2)] == ["if_statement", "return_statement"]


def test_a_loop_s_header_is_no_statement_of_its_own():
    found = tree("a.go", GO)
    assert [node.kind for node in found.statements][1:] == [
        "function_declaration",
        "for_statement",
        "inc_statement",
        "return_statement",
    ]


def test_names_of_functions():
    found = tree("a.js", "const f = (a) => a;\nclass C { g() {} }\nx.h = function () {};\n")
    assert sorted(found.name_of(node) for node in found.of(*found.functions)) == ["f", "g", "h"]


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_parsing_anew_what_was_touched_is_parsing_anew(data):
    path, text = data.draw(
        st.sampled_from([("a.js", SCRIPT), ("a.go", GO), ("a.js", SCRIPT.replace("\n", "\r\n"))])
    )
    found = tree(path, text)
    size = len(text.encode())
    cuts = sorted(data.draw(st.lists(st.integers(0, size), min_size=4, max_size=4)))
    news = data.draw(
        st.lists(
            st.sampled_from(["", "a", "{", "}", "\n", "if (a) {\n}", "a + b", "(", "`"]),
            min_size=2,
            max_size=2,
        )
    )
    edits = [Edit(path, cuts[0], cuts[1], news[0]), Edit(path, cuts[2], cuts[3], news[1])]
    if any(text.encode()[cut : cut + 1] in (b"\xbc",) for cut in cuts):  # inside of the ü
        return
    changed = found.source.edited(edits)
    anew = found._parser.parse(changed).root_node.has_error
    assert found.still_parses(edits) == (not anew)
