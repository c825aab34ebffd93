"""The session's log as the model searches it: what was summarised is found, page by page, and read as a whole."""

from __future__ import annotations

from pathlib import Path

import pytest

from deskagent.agent.converse import log
from deskagent.agent.converse.log import Log, LogArguments
from deskagent.messages import Author, Call, Image, Result, Text, Thinking
from deskagent.session import talk
from deskagent.session.journal import Journal
from deskagent.terminal.sandbox import Unconfined
from deskagent.terminal.types import Policy
from deskagent.tools.base import Context, ToolError


@pytest.fixture
def journal(tmp_path: Path):
    with Journal.create(tmp_path) as made:
        yield made


@pytest.fixture
def look(journal: Journal, tmp_path: Path):
    context = Context(tmp_path, "c", Unconfined(), Policy(), {}, {}, lambda changes: "", lambda data: "")

    def ask(**words) -> str:
        arguments = LogArguments(**words)
        tool = Log(journal)
        tool.wish(arguments, context)
        return tool.run(arguments, context).content[0].text  # type: ignore[union-attr]

    return ask


def test_all_kinds_are_found_by_their_words_and_looks_into_the_log_are_not(journal: Journal, look) -> None:
    shot = Image("b", "image/png", 3, 4, "needle.png")
    for event in (
        talk.Spoken(id="t1", parts=(Text("Find the NEEDLE in the hay"), shot)),
        talk.Spoken(id="t2", parts=(Text("a needle, told"),), author=Author.DESKAGENT),
        talk.PartCame(ask="a", part=Thinking("needle? hm")),
        talk.PartCame(ask="a", part=Text("A needle, I say")),
        talk.PartCame(ask="a", part=Call("c1", "grep", '{"pattern": "needle"}')),
        talk.CallEnded(id="c1", result=Result.of("hay.txt:3: needle")),
        talk.Compacted(id="s", first="t1", last="t2", summary="the needle was found"),
        talk.PartCame(ask="a", part=Call("c2", "log", '{"words": "needle"}')),
        talk.CallEnded(id="c2", result=Result.of("#2 needle")),
    ):
        journal.append(event)
    lines = look(words="needle").split("\n")
    assert [line.split(":")[0].split(" ", 1)[1] for line in lines] == [
        "summary",
        "result of grep",
        "call of grep",
        "you",
        "your thinking",
        "deskagent",
        "the person",
    ]
    assert look(words="HAY person") == "Nothing in the log holds all of these words."
    assert "Find the NEEDLE" in look(words="hay needle.png")


def test_pages_go_back_in_time(journal: Journal, look) -> None:
    for number in range(45):
        journal.append(talk.Spoken(id=f"t{number}", parts=(Text(f"word number {number}."),)))
    seen, before = [], 0
    while True:
        *hits, last = look(words="word", before=before).split("\n")
        if not last.startswith("("):
            seen += [*hits, last]
            break
        seen += hits
        before = int(last.split("before=")[1].rstrip(")"))
    assert [int(line.rsplit(" ", 1)[1].rstrip(".")) for line in seen] == list(range(44, -1, -1))
    assert len(seen) == 45 > 2 * log.HITS


def test_an_event_is_read_as_a_whole_in_pieces(journal: Journal, look) -> None:
    whole = "".join(f"{number}\n" for number in range(5000))
    seq = journal.append(talk.Spoken(id="t", parts=(Text(whole),)))
    number = seq if isinstance(seq, int) else journal.seq
    read, start = "", 0
    while True:
        piece = look(event=number, start=start).split(":\n", 1)[1]
        if "characters more: start=" not in piece:
            read += piece
            break
        body, note = piece.rsplit("\n(", 1)
        read += body
        start = int(note.split("start=")[1].rstrip(")"))
    assert read == whole


def test_what_leads_nowhere_is_said(journal: Journal, look) -> None:
    for words in ({}, {"words": "  "}, {"event": 999}):
        with pytest.raises(ToolError):
            look(**words)
