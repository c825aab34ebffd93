"""Sessions, projects and a front for the parts of the agent that write and read them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from deskagent.agent.recorder import Recorder
from deskagent.session import events
from deskagent.session.journal import Journal


@dataclass
class Watcher:
    """A front that keeps what it is shown and gives one answer to everything."""

    interactive: bool = False
    answer: bool = True
    asked: list[str] = field(default_factory=list)
    shown: list[object] = field(default_factory=list)

    def ask(self, question) -> bool:
        self.asked.append(question.subject)
        return self.answer

    def show(self, event) -> None:
        self.shown.append(event)

    def told(self) -> str:
        return "\n".join(event.text for event in self.shown if isinstance(event, events.Notice))


@pytest.fixture
def watcher() -> Watcher:
    return Watcher()


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("DESKAGENT_HOME", str(tmp_path / "deskagent"))
    return tmp_path / "deskagent"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path.resolve() / "project"
    folder.mkdir()
    return folder


@pytest.fixture
def recorder(project: Path, watcher: Watcher) -> Iterator[Recorder]:
    """Of a new session in `project`."""
    with Journal.create(project) as journal:
        recorder = Recorder(journal, watcher)
        recorder.emit(events.Request(text="repair it"))
        yield recorder


@pytest.fixture
def interrupted(project: Path) -> Callable[..., str]:
    """A session that said it would change files (path → before, after) and was never heard of again."""

    def make(changes: dict[str, tuple[bytes | None, bytes | None]], mode: int = 0o644) -> str:
        with Journal.create(project) as journal:
            journal.append(events.Request(text="repair it"))
            put = journal.blobs.put
            files = tuple(
                events.FileChange(
                    path=path,
                    before=None if before is None else put(before),
                    after=None if after is None else put(after),
                    mode=mode,
                )
                for path, (before, after) in changes.items()
            )
            journal.append(events.ApplyIntent(id="apply-1", files=files))
            return journal.id

    return make
