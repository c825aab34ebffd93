import pytest
from hypothesis import given
from hypothesis import strategies as st

from deskagent.repair.source import SourceFile
from deskagent.repair.tokens import TokenStream, lex
from deskagent.repair.types import Edit

CODE = b'''import os


def f(a, b):
    """Text."""
    if a < b:  # a comment
        return [a,
                b]
    x = 1
    x = 1
    return "it's" + f(a)
'''


def stream(code: bytes = CODE) -> TokenStream:
    return TokenStream(SourceFile.from_bytes("x.py", code))


def whole(code: bytes) -> list[bytes]:
    return [token for _, token in lex(code)]


def edit(old: bytes, new: str, code: bytes = CODE) -> Edit:
    start = code.index(old)
    return Edit("x.py", start, start + len(old), new)


def test_layout_does_not_count():
    assert whole(b"x = [1,\n  2] # c\n\n") == whole(b"x=[1, 2]")
    assert whole(b'x = "a"') == whole(b"x = 'a'")
    assert whole(b"if a:\n  b\n") != whole(b"if a:\n b\n")
    assert whole(b"x = 'it\"s'") != whole(b'x = "it\'s"')
    for layout in (
        edit(b"a < b", "a  <  b"),
        edit(b"# a comment", "# other"),
        edit(b"[a,\n                b]", "[a, b]"),
    ):
        assert stream().key([layout]) == ""


def test_two_ways_to_one_code_have_one_key():
    keys = {
        stream().key([edit(b"a < b", "a <= b")]),
        stream().key([edit(b"<", "<=")]),
        stream().key([edit(b"if a < b:", "if a <= b:   # why")]),
    }
    assert len(keys) == 1 and "" not in keys
    first, second = CODE.index(b"    x = 1\n"), CODE.rindex(b"    x = 1\n")
    gone = {stream().key([Edit("x.py", at, at + 10, "")]) for at in (first, second)}
    assert len(gone) == 1, "deleting either of two equal lines is one edit"


def test_moving_a_line_out_of_a_block_is_a_change():
    assert stream().key([edit(b"        return [a", "    return [a")]) != ""


@given(
    st.integers(0, len(CODE)),
    st.integers(0, 12),
    st.sampled_from(["", "x", " y", "\n", "(", ")", "\n    z = 2\n", "'", "#"]),
)
def test_change_agrees_with_lexing_the_whole_file(start, length, new):
    end = min(len(CODE), start + length)
    made = stream()
    one = Edit("x.py", start, end, new)
    index, gone, fresh = made.change([one])
    old = list(made.texts)
    assert old[index : index + len(gone)] == list(gone)
    after = old[:index] + list(fresh) + old[index + len(gone) :]
    assert after == whole(made.source.edited([one]))


_PIECE = st.sampled_from(["", "x", "(", ")", "\n    y = 1", "# c", "'", '"""', "\\\n", "import a\n", "1."])


@given(
    st.lists(st.integers(0, 3 * len(CODE)), min_size=2, max_size=8), st.lists(_PIECE, min_size=4, max_size=4)
)
def test_edits_far_from_each_other_agree_with_lexing_the_whole_file(cuts, pieces):
    code = CODE * 3
    ends = sorted(cuts[: len(cuts) // 2 * 2])
    edits = [
        Edit("x.py", start, min(end, start + 9), new)
        for start, end, new in zip(ends[::2], ends[1::2], pieces, strict=False)
    ]
    one = stream(code)
    index, gone, new = one.change(edits)
    old, after = whole(code), whole(one.source.edited(edits))
    assert [*old[:index], *new, *old[index + len(gone) :]] == after
    assert tuple(old[index : index + len(gone)]) == gone


@given(st.binary(max_size=60).map(lambda b: b.replace(b"\0", b"")))
def test_rubbish_is_lexed_without_a_fuss(raw):
    assert sum(len(token.strip()) for token in whole(raw)) <= len(raw) + 1


@pytest.mark.parametrize("code", [b"", b"\n\n", b"# only\n", b"\\\n"])
def test_empty(code):
    assert whole(code) == [] or code == b"\\\n"
