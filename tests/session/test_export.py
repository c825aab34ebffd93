from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from deskagent.session.events import CommandIntent, CommandResult, Notice, Request
from deskagent.session.export import export
from deskagent.session.journal import Journal

OURS = Path(__file__).parent / "data" / "20261202T010203-abc123"
SECRET = "hunter2-hunter2"


def exported(*events, kind: str) -> str:
    with Journal.create(Path("/work")) as journal:
        for event in events:
            journal.append(event)
        return "".join(export(journal, kind))


def test_json_holds_every_event_whole(home: Path) -> None:
    with Journal.open(OURS, write=False) as journal:
        shown = json.loads("".join(export(journal, "json")))
    assert (shown["session"], shown["format"], shown["warnings"]) == ("20261202T010203-abc123", [1, 0], [])
    assert [event["seq"] for event in shown["events"]] == list(range(1, 17))
    assert shown["events"][0]["cwd"] == "/home/me/caf\udce9"
    assert shown["events"][1]["text"] == "mergesort drops the last element\u2028\0\x1a"
    future = {"seq": 16, "type": "of_the_future", "time": 1796173323.25, "x": [1, {"y": None}]}
    assert shown["events"][-1] == future


def test_markdown_reads_well() -> None:
    with Journal.open(OURS, write=False) as journal:
        shown = "".join(export(journal, "md"))
    assert shown.startswith("# Session 20261202T010203-abc123\n")
    assert len(re.findall(r"(?m)^## \d+ · ", shown)) == 16
    assert "- argv: `pytest -q`\n" in shown
    assert "```text\n--- a/sort.py\n+++ b/sort.py\n" in shown
    assert "path: sort.py  line: 12  score: 0.91  reasons: 'every failing test runs it'" in shown


@pytest.mark.parametrize("kind", ["md", "json"])
def test_no_secret_is_exported(home: Path, monkeypatch: pytest.MonkeyPatch, kind: str) -> None:
    monkeypatch.setenv("ODD_SERVICE_TOKEN", SECRET)
    shown = exported(
        Request(f"why does {SECRET} fail", {"password": SECRET, "note": f"x{SECRET}"}),
        CommandIntent("1", ("curl", "--token", "abc", "-H", "Authorization: Bearer abcdef123456"), "/work"),
        CommandResult("1", "exited", 0, 1.0, head=f"password={SECRET}\nAKIAABCDEFGHIJKLMNOP\n", tail=SECRET),
        kind=kind,
    )
    for secret in (SECRET, "hunter2", "abcdef123456", "AKIAABCDEFGHIJKLMNOP", "'abc'", '"abc"'):
        assert secret not in shown
    assert "[redacted: environment]" in shown


@pytest.mark.parametrize("kind", ["md", "json"])
def test_hostile_text_is_inert(home: Path, kind: str) -> None:
    shown = exported(
        Request("\x1b]52;c;aGk=\x07\x9b31m \u202e \udc80 \0"),
        Notice(
            "![x](https://evil.example/a.png)", "```\n```` <img src=https://evil.example> [a](javascript:1)"
        ),
        CommandResult("`` ` ``", "exited", 0, 1.0, head="\n```\n# not a heading\n"),
        kind=kind,
    )
    shown.encode("utf-8")
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202e]", shown)
    if kind == "md":
        outside = re.sub(r"(?ms)^(`{3,})text$.*?^\1$", "", shown)  # fenced blocks
        outside = re.sub(r"(?s)(?<!`)(`+)(?!`).*?(?<!`)\1(?!`)", "", outside)  # code spans
        assert "evil" not in outside and "<" not in outside and "not a heading" not in outside
        assert len(re.findall("(?m)^# ", outside)) == 1


def test_damage_is_told(home: Path) -> None:
    with Journal.create(Path("/work")) as journal:
        journal.append(Notice("info", "x"))
    segment = journal.path / "000001.jsonl"
    segment.write_bytes(segment.read_bytes()[:-5])
    assert "unfinished record" in "".join(export(journal, "md"))
    assert "unfinished record" in json.loads("".join(export(journal, "json")))["warnings"][0]
