"""Changes of a session are shown as they are, kept and taken back by keys, in every size."""

from __future__ import annotations

from pathlib import Path

import pytest

from deskagent.agent import reviewing
from deskagent.agent.apply import apply_patch
from deskagent.agent.recorder import Recorder
from deskagent.agent.reviewing import Changed
from deskagent.session.journal import Journal
from ui.panes.changes import ChangesPane
from ui.panes.diff_rows import differing, rows
from ui.panes.diff_view import DiffView

BEFORE = "".join(f"line {n}\n" for n in range(1, 61)).encode()
AFTER = BEFORE.replace(b"line 10\n", b"line ten\n").replace(b"line 50\n", b"")


class Quiet:
    interactive = False

    def ask(self, question) -> bool:
        return False

    def show(self, event) -> None:
        pass


@pytest.fixture
def recorder(tmp_path: Path):
    with Journal.create(tmp_path) as journal:
        yield Recorder(journal, Quiet())


@pytest.fixture
def pane(tmp_path: Path, recorder: Recorder) -> ChangesPane:
    (tmp_path / "a.py").write_bytes(BEFORE)
    evil = b"\x1b]52;c;eA==\x07[bold]x[/bold]\n"
    apply_patch(recorder, tmp_path, {"a.py": (BEFORE, AFTER), "b[red].md": (None, evil)})
    pane = ChangesPane()
    pane.files = reviewing.changed(recorder.journal, tmp_path)
    return pane


def sent(app, kind: type) -> list:
    return list(dict.fromkeys(message for message in app.got if isinstance(message, kind)))


@pytest.mark.parametrize("size", [(80, 24), (120, 36), (250, 80), (30, 10)])
def test_it_shows_files_and_hunks_in_every_size(pane, hosted, size) -> None:
    async def play(app, pilot) -> None:
        shown = app.text()
        assert "2 files · +2 −2" in shown and "a.py" in shown
        if size[1] >= 24:
            assert "line ten" in shown and "b[red].md" in shown
            side_by_side = any("line 10" in line and "line ten" in line for line in shown.splitlines())
            assert side_by_side is (size[0] >= 96)

    hosted(pane, play, size=size)


def test_keys_keep_and_take_back(pane, hosted, tmp_path, recorder) -> None:
    async def play(app, pilot) -> None:
        app.query_one(DiffView).focus()
        await pilot.press("a")
        (keep,) = sent(app, DiffView.Keep)
        reviewing.keep(recorder, keep.file, keep.hunk, kept=keep.kept)
        pane.files = reviewing.changed(recorder.journal, tmp_path)
        await pilot.pause()
        assert "✓ kept" in app.text() and "1 of 3 kept" in app.text()
        await pilot.press("r")  # the next one has become the current one
        (taken,) = sent(app, DiffView.Reject)
        reviewing.reject(recorder, tmp_path, taken.file, taken.hunk)
        pane.files = reviewing.changed(recorder.journal, tmp_path)
        await pilot.pause()
        assert (tmp_path / "a.py").read_bytes() == BEFORE.replace(b"line 10\n", b"line ten\n")
        assert "1 of 2 kept" in app.text()

    hosted(pane, play)


def test_another_file_and_foreign_text_is_inert(pane, hosted) -> None:
    async def play(app, pilot) -> None:
        app.query_one("OptionList").focus()
        await pilot.press("down")
        await pilot.pause()
        assert pane.diff.file.path == "b[red].md"
        assert "␛]52;c;eA==␇[bold]x[/bold]" in app.text()
        assert "\x1b]52" not in app.export_screenshot()

    hosted(pane, play)


def test_a_stale_file_is_said(pane, hosted, tmp_path, recorder) -> None:
    (tmp_path / "a.py").write_bytes(b"mine")
    pane.files = reviewing.changed(recorder.journal, tmp_path)

    async def play(app, pilot) -> None:
        assert "Changed by somebody since" in app.text()

    hosted(pane, play)


def test_nothing_changed(hosted) -> None:
    async def play(app, pilot) -> None:
        assert "Nothing was changed in this session." in app.text()

    hosted(ChangesPane(), play)


def test_rows_hold_each_changed_line_once() -> None:
    file = Changed("f", BEFORE, AFTER, 0o644, tuple(reviewing._hunks(BEFORE, AFTER)))
    for beside in (False, True):
        found = rows(file, beside=beside)
        changed = [row for row in found if row.hunk >= 0 and not row.head]
        assert sorted(row.old for row in changed if row.old is not None) == [9, 49]
        assert [row.new for row in changed if row.new is not None] == [9]
        around = [(row.old, row.new) for row in found if row.hunk < 0 and not row.gap]
        assert around == [
            *((n, n) for n in (6, 7, 8, 10, 11, 12, 46, 47, 48)),
            *((n, n - 1) for n in (50, 51, 52)),
        ]


def test_words_that_differ_are_marked_where_lines_are_alike() -> None:
    assert differing("return one(x)", "return two(x)") == ([(7, 10)], [(7, 10)])
    assert differing("return one(x)", "class Other:") == ([], [])
