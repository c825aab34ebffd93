from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deskagent.repair.regress.hunks import atoms, hunks, words
from deskagent.repair.source import SourceFile

LINES = st.lists(st.sampled_from(["a = 1", "b = ä", "", "    c(d)", "# e", "a = 2"]), max_size=14)


def source(lines: list[str], end: str = "\n", final: bool = True) -> SourceFile:
    text = end.join(lines) + (end if lines and final else "")
    return SourceFile.from_bytes("m.txt", text.encode())


def shown(data: bytes) -> list[str]:
    """The lines; whether the last one ends, and empty ones after it, are the file's own affair."""
    return data.decode().rstrip("\r\n").replace("\r\n", "\n").split("\n")


@settings(max_examples=100, deadline=None)
@given(
    LINES,
    LINES,
    st.sampled_from(["\n", "\r\n"]),
    st.sampled_from(["\n", "\r\n"]),
    st.booleans(),
    st.booleans(),
)
def test_all_hunks_together_give_the_old_lines_back(
    old: list[str], new: list[str], old_end: str, new_end: str, old_final: bool, new_final: bool
) -> None:
    then, now = source(old, old_end, old_final), source(new, new_end, new_final)
    found = hunks(then, now)
    back = now.apply([hunk.edit for hunk in found])
    assert shown(back) == shown(then.raw)
    if new_end == "\n":
        assert b"\r" not in back
    elif shown(now.raw)[1:]:  # with a line end to go by
        assert back.count(b"\n") == back.count(b"\r\n")


@settings(max_examples=100, deadline=None)
@given(LINES, LINES, st.booleans())
def test_the_atoms_of_a_hunk_together_are_the_hunk(old: list[str], new: list[str], final: bool) -> None:
    then, now = source(old), source(new, final=final)
    for hunk in hunks(then, now):
        parts = atoms(hunk, now)
        whole, pieces = now.apply([hunk.edit]), now.apply([part.edit for part in parts])
        assert shown(pieces) == shown(whole)
        assert all(hunk.first <= part.first <= part.last <= hunk.last for part in parts if part.came)


@settings(max_examples=200, deadline=None)
@given(st.text("ab =(ä", max_size=12), st.text("ab =(ä", max_size=12))
def test_the_words_of_a_line_together_are_the_line(old: str, new: str) -> None:
    now = source(["x", new, "y"])
    for hunk in hunks(source(["x", old, "y"]), now):
        assert shown(now.apply([part.edit for part in words(hunk, now)])) == shown(now.apply([hunk.edit]))


def test_a_line_is_taken_apart_into_what_changed_in_it() -> None:
    now = source(["R = {'ä': 7, 'toy': 19, 'tool': 20}"])
    (hunk,) = hunks(source(["R = {'ä': 7, 'tool': 19}"]), now)
    found = words(hunk, now)
    assert any(shown(now.apply([part.edit])) == ["R = {'ä': 7, 'toy': 19, 'tool': 19}"] for part in found)


def test_a_hunk_tells_its_lines() -> None:
    then, now = source(["a", "b", "c", "d"]), source(["a", "X", "Y", "d", "e"])
    one, two = hunks(then, now)
    assert (one.first, one.last, one.gone, one.came) == (2, 3, ("b", "c"), ("X", "Y"))
    assert (two.first, two.last, two.gone, two.came) == (5, 5, (), ("e",))
    (cut,) = hunks(then, source(["a", "d"]))
    assert (cut.first, cut.last, cut.gone, cut.came) == (1, 2, ("b", "c"), ())


@pytest.mark.parametrize(
    ("old", "new", "parts"),
    [
        (["x = 1", "y = 2"], ["x = 3", "y = 4"], [("x = 1", "x = 3"), ("y = 2", "y = 4")]),
        (
            ["return total + 1"],
            ["log(total)", "return total + 2"],
            [("", "log(total)"), ("return total + 1", "return total + 2")],
        ),
        (["if a:", "    go(a)"], ["    go(a, b)"], [("if a:", ""), ("    go(a)", "    go(a, b)")]),
        (["one"], ["entirely", "different"], [("one", ""), ("", "entirely|different")]),
    ],
)  # fmt: skip
def test_lines_are_paired_with_what_became_of_them(
    old: list[str], new: list[str], parts: list[tuple[str, str]]
) -> None:
    now = source(["start", *new, "end"])
    (hunk,) = hunks(source(["start", *old, "end"]), now)
    assert [("|".join(a.gone), "|".join(a.came)) for a in atoms(hunk, now)] == parts
