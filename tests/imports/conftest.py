"""Other agents' folders, written by hand to the forms that they document, and what was made of them read back."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from deskagent.imports.carry import alone, carry
from deskagent.imports.found import KINDS
from deskagent.imports.plan import plan
from deskagent.imports.sources import SOURCES, look
from deskagent.session.history import History
from deskagent.session.journal import Journal


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The person's home folder, with deskagent's own apart from it."""
    for name in ("CLAUDE_CONFIG_DIR", "CODEX_HOME", "KIMI_SHARE_DIR", "XDG_DATA_HOME", "XDG_CONFIG_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path / "person"))
    monkeypatch.setenv("DESKAGENT_HOME", str(tmp_path / "ours"))
    (tmp_path / "person").mkdir()
    return tmp_path / "person"


@pytest.fixture
def put(home: Path) -> Callable[..., Path]:
    """Writes a file in the home folder: text, lines of JSON for a list, else JSON."""

    def write(name: str, content: Any) -> Path:
        path = home / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if isinstance(content, list):
            content = "".join(json.dumps(each) + "\n" for each in content)
        path.write_text(content if isinstance(content, str) else json.dumps(content))
        return path

    return write


@pytest.fixture
def bring(home: Path) -> Callable[..., Any]:
    """Brings all over that a source has, and gives the plan and what was done."""

    def run(source: str, *kinds: str) -> Any:
        with alone():
            made = plan(source, look(source), kinds or KINDS)
            return made, carry(made, SOURCES[source].title)

    return run


@pytest.fixture
def history() -> Callable[[str], History]:
    """The conversation of a session."""

    def read(session: str) -> History:
        with Journal.open(session, write=False) as journal:
            found = History(record.event for record in journal.read())
            assert not journal.warnings
            return found

    return read
