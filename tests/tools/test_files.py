"""Reading, editing and writing files: exactly what was meant, and nothing that wasn't looked at."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from deskagent.tools.base import Effect, ToolError
from deskagent.tools.edit import Edit, EditArguments
from deskagent.tools.read import Read, ReadArguments
from deskagent.tools.write import Write, WriteArguments


def read(context, path: str, **more):
    return Read().run(ReadArguments(path=path, **more), context)


def edit(context, path: str, old: str, new: str, **more):
    return Edit().run(EditArguments(path=path, old=old, new=new, **more), context)


def write(context, path: str, content: str):
    return Write().run(WriteArguments(path=path, content=content), context)


def test_lines_come_numbered_and_a_part_says_that_it_is_one(context, project: Path, text) -> None:
    (project / "a.txt").write_text("one\ntwo\nthree\n")
    assert text(read(context, "a.txt")) == "1\tone\n2\ttwo\n3\tthree"
    assert text(read(context, "a.txt", first=2, lines=1)) == "2\ttwo\n(lines 2 to 2 of 3)"
    assert text(read(context, str(project / "a.txt"))).startswith("1\tone")


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (lambda p: (p / "readme.md").write_text("x"), "readme.md"),
        (lambda p: (p / "READM.md").mkdir(), "folder"),
        (lambda p: (p / "READM.md").write_bytes(b"\0\1\2" * 99), "NUL"),
        (lambda p: (p / "READM.md").write_bytes(b"\x89PNG\r\n\x1a\n" + b"\0" * 40), "`image` shows it"),
        (lambda p: os.mkfifo(p / "READM.md"), "plain file"),
        (lambda p: (p / "READM.md").symlink_to("READM.md"), "READM.md"),
    ],
)
def test_what_can_not_be_read_is_said(context, project: Path, make, says: str) -> None:
    make(project)
    with pytest.raises(ToolError, match=says):
        read(context, "READM.md")


def test_what_lies_outside_has_to_be_asked_for_and_secrets_are_never_read(
    context, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / ".ssh").mkdir()
    (tmp_path / "other.txt").write_text("x")
    assert Read().wish(ReadArguments(path="../other.txt"), context).effect is Effect.OUTSIDE
    with pytest.raises(ToolError, match="secret"):
        Read().wish(ReadArguments(path="~/.ssh/id_rsa"), context)


def test_a_link_out_of_the_project_leads_outside(context, project: Path, tmp_path: Path) -> None:
    (tmp_path / "other.txt").write_text("x")
    (project / "link").symlink_to(tmp_path / "other.txt")
    assert Read().wish(ReadArguments(path="link"), context).effect is Effect.OUTSIDE
    with pytest.raises(ToolError, match="outside"):
        edit(context, "link", "x", "y")
    with pytest.raises(ToolError, match="no file in the project"):
        write(context, "link", "y")
    assert (tmp_path / "other.txt").read_text() == "x"


@pytest.mark.parametrize(
    "raw", [b"a = 1\r\nb = 2\r\n", b"\xef\xbb\xbfa = 1\nb = 2", "ä = 1\nb = 2\n".encode("cp1252")]
)
def test_an_edit_changes_its_piece_and_no_other_byte(context, project: Path, raw: bytes) -> None:
    (project / "a.txt").write_bytes(raw)
    read(context, "a.txt")
    edit(context, "a.txt", "b = 2", "b = 3")
    assert (project / "a.txt").read_bytes() == raw.replace(b"b = 2", b"b = 3")


def test_several_lines_of_a_crlf_file_are_found_as_models_write_them(context, project: Path) -> None:
    (project / "a.txt").write_bytes(b"one\r\ntwo\r\nthree\r\n")
    read(context, "a.txt")
    edit(context, "a.txt", "one\ntwo\n", "1\n2\n")
    assert (project / "a.txt").read_bytes() == b"1\r\n2\r\nthree\r\n"


def test_an_edit_needs_one_place_or_says_where_there_are_several(context, project: Path) -> None:
    (project / "a.txt").write_text("x\ny\nx\n")
    read(context, "a.txt")
    with pytest.raises(ToolError, match=r"2 times \(lines 1, 3\)"):
        edit(context, "a.txt", "x", "z")
    with pytest.raises(ToolError, match="doesn't stand"):
        edit(context, "a.txt", "q", "z")
    edit(context, "a.txt", "x", "z", all=True)
    assert (project / "a.txt").read_text() == "z\ny\nz\n"


def test_what_is_nearest_is_shown_where_a_piece_is_not_exact(context, project: Path) -> None:
    (project / "a.py").write_text("def f():\n    return 1\n")
    read(context, "a.py")
    with pytest.raises(ToolError, match="2\t    return 1"):
        edit(context, "a.py", "  return 1\n  ", "  return 2")


def test_a_file_that_was_not_read_or_has_changed_since_is_left_alone(context, project: Path) -> None:
    (project / "a.txt").write_text("one\n")
    with pytest.raises(ToolError, match="wasn't read"):
        edit(context, "a.txt", "one", "two")
    read(context, "a.txt")
    (project / "a.txt").write_text("one \n")
    for act in (lambda: edit(context, "a.txt", "one", "two"), lambda: write(context, "a.txt", "two")):
        with pytest.raises(ToolError, match="has changed"):
            act()
    assert (project / "a.txt").read_text() == "one \n"


def test_what_was_edited_may_be_edited_again(context, project: Path) -> None:
    write(context, "new/a.txt", "one\n")
    edit(context, "new/a.txt", "one", "two")
    edit(context, "new/a.txt", "two", "three")
    assert (project / "new/a.txt").read_text() == "three\n"


def test_a_file_written_as_a_whole_keeps_its_encoding_and_line_ends(context, project: Path) -> None:
    (project / "a.txt").write_bytes(b"\xef\xbb\xbfone\r\ntwo\r\n")
    read(context, "a.txt")
    write(context, "a.txt", "three\nfour\n")
    assert (project / "a.txt").read_bytes() == b"\xef\xbb\xbfthree\r\nfour\r\n"


def test_the_wish_shows_the_diff_and_changes_nothing(context, project: Path) -> None:
    (project / "a.txt").write_text("one\n")
    read(context, "a.txt")
    wish = Edit().wish(EditArguments(path="a.txt", old="one", new="two"), context)
    assert wish.effect is Effect.WRITE and "-one\n+two\n" in wish.subject and wish.paths == ("a.txt",)
    assert (project / "a.txt").read_text() == "one\n"


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=60, deadline=None)
@given(st.text("ab\n\r é", max_size=12), st.text("ab é", min_size=1, max_size=4), st.text("xy é", max_size=4))
def test_an_edit_is_what_replacing_the_one_place_is(
    context, project: Path, whole: str, old: str, new: str
) -> None:
    (project / "a.txt").write_bytes(whole.encode())
    read(context, "a.txt")
    expected = whole.replace(old, new) if whole.count(old) == 1 and old != new else whole
    try:
        edit(context, "a.txt", old, new)
    except ToolError:
        assert expected == whole
    assert (project / "a.txt").read_bytes() == expected.encode()
