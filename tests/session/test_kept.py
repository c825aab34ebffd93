"""What is kept of a session and the events after it come to the same as all events, or isn't used."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from deskagent.agent.keeping import VIEWS
from deskagent.messages import Call, Result, Text
from deskagent.session import events as e
from deskagent.session import kept, store, talk
from deskagent.session.event import Event
from deskagent.session.history import History
from deskagent.session.journal import Journal

OPERATIONS = st.lists(
    st.tuples(
        st.sampled_from(
            ["say", "ask", "ask", "call", "call", "end", "end", "compact", "rewind", "todo", "apply", "settle",
             "command", "trial", "patch", "keep", "keep", "reopen"]
        ),
        st.integers(0, 50),
    ),
    max_size=60,
)  # fmt: skip


class Session:
    """Writes a session of all kinds of events, each id used once. `plain` is its history with all turns in memory."""

    def __init__(self, journal: Journal) -> None:
        self.journal, self.plain = journal, History(r.event for r in journal.read())
        self.count = 0
        self.calls: list[str] = []

    def emit(self, event: Event) -> None:
        self.journal.append(event)
        self.plain.take(event)

    def do(self, what: str, at: int) -> None:
        self.count += 1
        id = f"{what}-{self.count}"
        match what:
            case "say":
                self.emit(talk.Spoken(id=id, parts=(Text("a\ud800\x1a" if at == 1 else f"said {id}"),)))
            case "ask":
                self.emit(talk.ModelAsked(id=id, model="stand/in"))
                self.emit(talk.PartCame(ask=id, part=Text(f"answer {id}")))
            case "call" if self.plain._open:
                self.calls.append(id)
                self.emit(talk.PartCame(ask=self.plain._open.id, part=Call(id, "read", "{}")))
                if at % 2:
                    self.emit(talk.CallBegun(id=id, effect="run"))
            case "end" if self.calls:
                self.emit(talk.CallEnded(id=self.calls[at % len(self.calls)], result=Result.of("done")))
            case "compact" if len(self.plain.sent) > 2:
                entries = self.plain.sent
                first = 1 + at % (len(entries) - 1)
                last = entries[min(first + at % 5, len(entries) - 1)].id
                self.emit(talk.Compacted(id=id, first=entries[first].id, last=last, summary=f"sum {id}"))
            case "rewind" if self.plain.all:
                names = [entry.id for entry in (self.plain.all if at % 3 else self.plain.sent)]
                self.emit(talk.Rewound(to=names[at % len(names)]))
            case "todo":
                self.emit(talk.TodosSet(todos=(talk.Todo(id),)))
            case "apply":
                self.emit(e.ApplyIntent(id=f"apply-{at}", files=(e.FileChange("a", None, "0" * 64),)))
            case "settle":
                self.emit(e.ApplyResult(id=f"apply-{at}", ok=bool(at % 2)))
            case "command":
                self.emit(e.CommandIntent(id=id, argv=("x",), cwd="/"))
                if at % 3:
                    self.emit(e.CommandResult(id=id, end="exited", code=1, seconds=0.1))
                    stage = "observe" if at % 2 else "verify"
                    self.emit(
                        e.TestsObserved(
                            "pytest",
                            f"line {at % 2}",
                            1,
                            1,
                            stage=stage,
                            green=not at % 5,
                            patch=f"k{at % 4}",
                        )
                    )
            case "trial":
                self.emit(e.CandidatesTried((e.Trial(f"k{at % 4}", "op", "a.py", 1, "", "red"),)))
            case "patch":
                self.emit(e.PatchFound(key=f"k{at % 4}", diff="", time=5.0))
                self.emit(e.StateChanged("verify", "done", "proved"))
            case "keep":
                self.journal.keep(VIEWS)
            case _:
                pass


def dumps(journal: Journal) -> dict[str, Any]:
    views = [kept.view(journal, kind) for kind in VIEWS]
    return {view.NAME: msgspec.to_builtins(view.dump(), order="sorted") for view in views}


def same(folder: Path) -> None:
    """The session is read with what is kept of it, and without."""
    with Journal.open(folder, write=False) as journal:
        found = dumps(journal)
        history = kept.view(journal, History)
        warned = [each for each in journal.warnings if each.kind != "torn"]
    state = folder / kept.NAME
    held = state.read_bytes() if state.exists() else None
    state.unlink(missing_ok=True)
    try:
        with Journal.open(folder, write=False) as journal:
            assert journal.kept is None
            assert found == dumps(journal)
            plain = History(record.event for record in journal.read())
            assert warned == [each for each in journal.warnings if each.kind != "torn"]
    finally:
        if held is not None:
            state.write_bytes(held)
    assert (history.turns(), history.all, history.sent) == (plain.turns(), plain.all, plain.sent)
    assert (history.calls, history.summaries, history.waiting) == (
        plain.calls,
        plain.summaries,
        plain.waiting,
    )


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(OPERATIONS, st.sampled_from([600, 3000, 1 << 20]))
def test_kept_and_the_events_after_it_are_all_events(
    home: Path, operations: Sequence[tuple[str, int]], size: int
) -> None:
    journal = Journal.create(Path("/work"), segment_bytes=size)
    session = Session(journal)
    for what, at in operations:
        if what == "reopen":
            session.journal.close()
            session.journal = Journal.open(journal.path, segment_bytes=size)
        else:
            session.do(what, at)
    seq = session.journal.seq
    session.journal.close()
    same(journal.path)
    with Journal.open(journal.path) as again:
        assert again.seq == seq and again.warnings == ()
    same(journal.path)


def long(count: int = 30, size: int = 1500) -> Path:
    """A session of several segments, kept, and gone on with."""
    with Journal.create(Path("/work"), segment_bytes=size) as journal:
        session = Session(journal)
        for number in range(count):
            session.do("say", number + 2)
            session.do("ask", number)
        session.do("compact", 5)
        session.do("keep", 0)
        session.do("say", 2)
        return journal.path


def trusted(folder: Path) -> bool:
    with Journal.open(folder, write=False) as journal:
        return journal.kept is not None


def flip(path: Path, at: int) -> None:
    data = bytearray(path.read_bytes())
    data[at] ^= 1
    path.write_bytes(data)


@pytest.mark.parametrize("where", [0, 10, 40, -3])
def test_a_damaged_state_is_not_used(home: Path, where: int) -> None:
    folder = long()
    assert trusted(folder)
    flip(folder / kept.NAME, where)
    assert where < 0 or not trusted(folder)  # the end is a view's, which is looked at when it is needed
    same(folder)


@pytest.mark.parametrize("which", [0, 1, -2, -1])
def test_a_segment_that_is_not_as_it_was_is_read(home: Path, which: int) -> None:
    folder = long()
    flip(store.segments(folder)[which], 300)
    assert not trusted(folder)
    same(folder)
    with Journal.open(folder) as journal:
        assert {each.kind for each in journal.warnings} & {"bad", "torn"}
        journal.keep(VIEWS)  # what is missing for good stays known
    assert trusted(folder)
    same(folder)


def test_a_missing_and_an_added_segment_are_seen(home: Path) -> None:
    folder = long()
    first, second, *_ = store.segments(folder)
    data = second.read_bytes()
    second.unlink()
    assert not trusted(folder)
    second.write_bytes(data)
    assert trusted(folder)
    first.rename(folder / "000000.jsonl")
    assert not trusted(folder)


def test_another_version_makes_it_anew(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = long()
    monkeypatch.setattr(kept, "VERSION", kept.VERSION + 1)
    assert not trusted(folder)
    same(folder)


def test_what_is_before_the_mark_is_not_read(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = long()
    last = store.number(store.segments(folder)[-1])
    monkeypatch.setattr("deskagent.session.mark._QUIET", -1)  # stamps are taken at once
    with Journal.open(folder) as journal:
        Session(journal).do("say", 2)
        journal.keep(VIEWS)
    with Journal.open(folder, write=False) as journal:
        assert journal.kept is not None
        assert [piece.stamp is not None for piece in journal.kept.mark.pieces] == [True] * (last - 1) + [
            False
        ]
        assert [record.seq for record in journal.read(journal.kept.mark.seq)] == []


def kept_session(report: Callable[[str], None]) -> None:
    """Two runs over one session, that keep what it comes to in between."""
    with Journal.create(Path("/work"), segment_bytes=900) as journal:
        report(f"id {journal.id}")
    for _ in range(2):
        with Journal.open(journal.id, segment_bytes=900) as journal:
            session = Session(journal)
            session.count = journal.seq
            for number in range(8):
                session.do(("say", "ask", "compact", "apply", "keep")[number % 5], number)
                report(f"seq {journal.seq}")


@pytest.mark.parametrize("kind", ["half", "power, mixed"])
def test_a_kill_at_every_operation(
    home: Path, run_with_fault: Callable[..., Any], fault: Callable[..., Any], kind: str
) -> None:
    total = len(run_with_fault(kept_session, fault("kill", 1 << 30)).operations)
    assert total > 40
    for at in range(1, total + 1):
        run = run_with_fault(kept_session, fault(kind, at))
        ids = [line.split()[1] for line in run.reported if line.startswith("id ")]
        if not ids:
            continue
        folder = store.sessions_dir() / ids[0]
        last = max((int(line.split()[1]) for line in run.reported if line.startswith("seq ")), default=1)
        same(folder)
        with Journal.open(folder) as journal:
            assert journal.seq >= last or kind.startswith("power")  # parts of answers aren't synced
            journal.append(e.Notice("info", "goes on"))
        same(folder)


def test_a_disk_that_is_full_keeps_nothing_and_breaks_nothing(
    home: Path, tmp_path: Path, monkeypatch
) -> None:
    folder = long()

    def full(*args: object, **more: object) -> None:
        raise OSError(28, "No space left on device")

    with Journal.open(folder) as journal:
        Session(journal).do("say", 3)
        monkeypatch.setattr("deskagent.session.files.replace", full)
        journal.keep(VIEWS)
        Session(journal).do("say", 4)
    same(folder)


def test_turns_that_are_sent_as_a_summary_are_let_go_and_come_back(home: Path) -> None:
    with Journal.create(Path("/work")) as journal:
        session = Session(journal)
        history = History.begun(journal, None)
        for record in journal.read():
            history.see(record)
        emitted = session.emit

        def emit(event: Event) -> None:
            emitted(event)
            history.take(event)

        session.emit = emit  # type: ignore[method-assign]
        for number in range(40):
            session.do("say", 2)
            session.do("ask", number)
        entries = session.plain.sent
        session.emit(talk.Compacted(id="s", first=entries[1].id, last=entries[-3].id, summary="much"))
        assert len(history._entries) == len(history.sent) == 4
        assert history.all == session.plain.all
        session.emit(talk.Rewound(to="s"))
        assert history.sent == session.plain.sent and len(history.sent) == 4
        session.emit(talk.Rewound(to=entries[20].id))
        assert history.turns() == session.plain.turns() and len(history.turns()) == 20
