from hypothesis import given
from hypothesis import strategies as st

from deskagent.repair.languages.lexer import lex
from deskagent.repair.source import SourceFile
from deskagent.repair.tokens import TokenStream
from deskagent.repair.types import Edit


def tokens(code):
    return [token for _, token in lex(code)]


def test_comments_and_spacing_do_not_count():
    assert tokens(b"a  =  1 // one\n/* two\n lines */ b") == tokens(b"a = 1\nb")


def test_quotes_do_not_count():
    assert tokens(b'f("a")') == tokens(b"f('a')")


def test_operators_are_whole():
    assert tokens(b"a !== b ?? c?.d >>>= e") == [
        b"\n",
        b"a",
        b"!==",
        b"b",
        b"??",
        b"c",
        b"?.",
        b"d",
        b">>>=",
        b"e",
    ]


def test_a_template_runs_over_lines():
    assert tokens(b"x = `a\n b` + 1") == [b"\n", b"x", b"=", b"`a\n b`", b"+", b"1"]


def test_equal_code_has_an_equal_key():
    stream = TokenStream(SourceFile.from_bytes("a.js", b"f(a);\ng(b);\n"), lex)
    assert stream.key([Edit("a.js", 2, 3, "b")]) == stream.key([Edit("a.js", 0, 4, "f( b )")])
    assert stream.key([Edit("a.js", 2, 3, " a ")]) == ""


@given(st.binary(max_size=60))
def test_any_bytes(code):
    for offset, token in lex(code):
        assert 0 <= offset < max(1, len(code))
        assert token
