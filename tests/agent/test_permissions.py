from __future__ import annotations

import json
import stat
from pathlib import Path

import pytest

from deskagent.agent import permissions
from deskagent.agent.permissions import Consent, Gate, Mode
from deskagent.errors import UsageError
from deskagent.terminal.types import Rung

LINE = "pytest -q"


def gate(mode: Mode, *, rung: Rung = Rung.BWRAP, interactive: bool = False, trusted: bool = False) -> Gate:
    return Gate(mode, rung, interactive, trusted)


@pytest.mark.parametrize("mode", Mode)
def test_a_command_that_the_person_gave_runs_in_the_sandbox(mode: Mode) -> None:
    assert gate(mode).run_tests(given=True, line=LINE) is Consent.GIVEN


@pytest.mark.parametrize("mode", [Mode.ASK, Mode.PLAN])
def test_a_detected_command_in_an_untrusted_folder_is_asked_for(mode: Mode) -> None:
    assert gate(mode, interactive=True).run_tests(given=False, line=LINE) is Consent.ASK
    with pytest.raises(UsageError, match="not trusted") as told:
        gate(mode).run_tests(given=False, line=LINE)
    assert "deskagent trust" in told.value.hint
    assert "--test" in told.value.hint


@pytest.mark.parametrize("mode", [Mode.ASK, Mode.PLAN])
def test_trust_lets_a_detected_command_run(mode: Mode) -> None:
    assert gate(mode, trusted=True).run_tests(given=False, line=LINE) is Consent.GIVEN


@pytest.mark.parametrize("mode", [Mode.ASK, Mode.PLAN, Mode.AUTO])
@pytest.mark.parametrize("given", [True, False])
def test_without_a_sandbox_every_command_is_asked_for(mode: Mode, given: bool) -> None:
    nowhere = gate(mode, rung=Rung.NONE, interactive=True, trusted=True)
    assert nowhere.run_tests(given=given, line=LINE) is Consent.ASK
    with pytest.raises(UsageError, match="No sandbox") as told:
        gate(mode, rung=Rung.NONE, trusted=True).run_tests(given=given, line=LINE)
    assert "--permission-mode full" in told.value.hint


def test_full_asks_for_nothing() -> None:
    free = gate(Mode.FULL, rung=Rung.NONE)
    assert free.run_tests(given=False, line=LINE) is Consent.GIVEN
    assert free.write() is Consent.GIVEN


def test_writing() -> None:
    assert gate(Mode.PLAN, interactive=True).write() is None
    assert gate(Mode.PLAN).write() is None
    assert gate(Mode.ASK, interactive=True).write() is Consent.ASK
    assert gate(Mode.ASK).write() is Consent.GIVEN
    assert gate(Mode.AUTO, interactive=True).write() is Consent.GIVEN


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("DESKAGENT_HOME", str(tmp_path / "home"))
    return tmp_path / "home"


def test_trust_is_for_the_folder_itself(home: Path, tmp_path: Path) -> None:
    inner = tmp_path / "project" / "vendored"
    inner.mkdir(parents=True)
    permissions.trust(tmp_path / "project")
    assert permissions.is_trusted(tmp_path / "project")
    assert not permissions.is_trusted(inner)
    permissions.trust(tmp_path / "project", on=False)
    assert not permissions.is_trusted(tmp_path / "project")


def test_a_link_is_trusted_by_what_it_leads_to(home: Path, tmp_path: Path) -> None:
    for name in ("good", "evil"):
        (tmp_path / name).mkdir()
    link = tmp_path / "link"
    link.symlink_to("good")
    permissions.trust(link)
    link.unlink()
    link.symlink_to("evil")
    assert not permissions.is_trusted(link)
    assert permissions.is_trusted(tmp_path / "good")


@pytest.mark.parametrize("text", ["", "{", "[1, null]", '{"a": 1}', "\x00\xff"])
def test_a_broken_list_trusts_nothing_and_is_mended(home: Path, tmp_path: Path, text: str) -> None:
    store = home / "config" / "trusted.json"
    store.parent.mkdir(parents=True)
    store.write_bytes(text.encode("latin-1"))
    assert not permissions.is_trusted(tmp_path)
    permissions.trust(tmp_path)
    assert json.loads(store.read_text()) == [str(tmp_path.resolve())]
    assert stat.S_IMODE(store.stat().st_mode) == 0o600
