from __future__ import annotations

import json
import os
import re
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from deskagent.cli.sessions import sessions
from deskagent.errors import UsageError
from deskagent.session.events import CommandResult, Notice, Request, SessionEnded
from deskagent.session.journal import Journal

HOSTILE = "\x1b]52;c;aGk=\x07\x9b31m\u202e\u200b\udc80\r\nsecond line"
ACTIVE = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b\u202e]")


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.setenv("DESKAGENT_HOME", str(tmp_path / "home"))
    folder = tmp_path / "project"
    folder.mkdir()
    monkeypatch.chdir(folder)
    yield folder


def run(*args: str, code: int = 0) -> Result:
    result = CliRunner().invoke(sessions, args)
    if result.exception and not isinstance(result.exception, SystemExit):
        raise result.exception
    assert result.exit_code == code, result.output
    return result


def session(title: str, cwd: Path | None = None, *, text: str = "") -> str:
    with Journal.create(cwd or Path.cwd(), argv=["deskagent", "fix", title]) as journal:
        journal.append(Request(title))
        journal.append(CommandResult("1", "exited", 1, 0.5, head=text))
        journal.append(SessionEnded("fixed", 0, {"diff": "-a\n+b"}))
        return journal.id


def test_list_shows_this_folder_or_all(tmp_path: Path) -> None:
    assert "no sessions of this folder" in run("list").stderr
    one, two = session("sort is wrong"), session("other", tmp_path / "else")
    assert run("list").stdout.startswith(one) and two not in run("list").stdout
    lines = run("list", "--all").stdout.splitlines()
    assert [line.split()[0] for line in lines] == [two, one]
    assert "fixed" in lines[1] and "sort is wrong" in lines[1] and str(tmp_path / "else") in lines[0]


def test_list_as_json() -> None:
    assert json.loads(run("list", "--json").stdout) == []
    one = session(HOSTILE)
    (shown,) = json.loads(run("list", "--json").stdout)
    assert (shown["id"], shown["title"], shown["status"], shown["exit_code"]) == (one, HOSTILE, "fixed", 0)


def test_show_by_id_by_its_beginning_and_the_last(tmp_path: Path) -> None:
    one = session("sort is wrong", text="line 1\nline 2\n")
    session("other", tmp_path / "else")
    for name in (one, "last"):  # the last of this folder
        shown = run("show", name).stdout
        assert "Request" in shown and "sort is wrong" in shown and "│ line 2" in shown and "│ +b" in shown
    with pytest.raises(UsageError, match="2 sessions begin with"):
        run("show", "2")


def test_no_session() -> None:
    with pytest.raises(UsageError, match="no sessions yet"):
        run("show", "last")
    with pytest.raises(UsageError, match="no session '2026'"):
        run("export", "2026")


def test_hostile_text_is_printed_inert() -> None:
    one = session(HOSTILE, Path(HOSTILE.replace("\r\n", "") + "/x"), text=HOSTILE * 3)
    for args in (
        ["list", "--all"],
        ["show", one],
        ["search", "second"],
        ["export", one],
        ["list", "--json", "--all"],
    ):
        shown = run(*args).stdout
        assert not ACTIVE.search(shown), args
    assert len(run("list", "--all").stdout.splitlines()) == 1
    assert "␛]52" in run("show", one).stdout


def test_export_to_a_file_is_private_and_whole(tmp_path: Path) -> None:
    one = session("password=hunter2hunter2")
    output = tmp_path / "out.json"
    assert run("export", one, "--format", "json", "-o", str(output)).stdout == ""
    assert stat.S_IMODE(output.stat().st_mode) == 0o600
    text = output.read_text()
    assert len(json.loads(text)["events"]) == 4 and "hunter2" not in text
    assert run("export", "last").stdout.startswith(f"# Session {one}")
    with pytest.raises(Exception, match="write the export"):
        run("export", one, "-o", str(tmp_path / "no" / "such" / "folder"))


def test_search() -> None:
    one = session("x", text="the needle in it")
    shown = run("search", "needle", "the").stdout
    assert shown.startswith(f"{one}  #3  ") and "the needle in it" in shown
    assert "Nothing found" in run("search", "haystack", code=1).stderr


def test_a_damaged_session_is_shown_with_a_warning() -> None:
    one = session("x")
    segment = Path(os.environ["DESKAGENT_HOME"]) / "data" / "sessions" / one / "000001.jsonl"
    segment.write_bytes(segment.read_bytes()[:-9])
    result = run("show", one)
    assert "Request" in result.stdout and "unfinished record" in result.stderr


def test_a_running_session_can_be_shown() -> None:
    with Journal.create(Path.cwd()) as journal:
        journal.append(Notice("info", "at work"))
        assert "running" in run("list").stdout
        assert "at work" in run("show", journal.id).stdout
