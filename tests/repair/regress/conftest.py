"""Regressions in real repositories; each failing test is a function run in this process, so that each try is cheap."""

from __future__ import annotations

import os
import subprocess
import traceback
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from pathlib import Path
from typing import Any

import pytest

from deskagent.repair.budget import Budget, Limits
from deskagent.repair.regress.find import Found, check, find
from deskagent.repair.regress.reverts import reverts
from deskagent.repair.source import SourceFile
from deskagent.repair.types import Baseline, Candidate, Outcome, Status, TestResult, Verdict

SHOP = """\
RATES = {"book": 7, "tool": 19}


def tax(kind, net):
    rate = RATES[kind]
    return round(net * rate / 100)


def total(items):
    result = 0
    for kind, net in items:
        result += net + tax(kind, net)
    return result
"""


@pytest.fixture
def shop() -> str:
    return SHOP


BAD = SHOP.replace("net * rate / 100", "net * rate / 10")


@pytest.fixture
def bad() -> str:
    return BAD


class Repo:
    """A repository at `folder` whose tests are functions: they get a function that loads a module of the tree."""

    def __init__(self, folder: Path, *checks: Callable[[Callable[[str], dict]], None]) -> None:
        self.folder, self._checks = folder, checks
        self.runs = 0
        folder.mkdir()
        self.git("init", "-q", "-b", "main")

    def git(self, *words: str) -> str:
        env = {**os.environ, "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull}
        command = [
            "git",
            "-c",
            "user.name=t",
            "-c",
            "user.email=t@x",
            "-c",
            "protocol.file.allow=always",
            *words,
        ]
        return subprocess.run(
            command, cwd=self.folder, check=True, capture_output=True, text=True, env=env
        ).stdout.strip()

    def write(self, **files: str | None) -> None:
        for name, text in files.items():
            path = self.folder / f"{name.replace('__', '/')}.py"
            if text is None:
                path.unlink()
            else:
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(text.encode())

    def commit(self, subject: str, **files: str | None) -> str:
        self.write(**files)
        self.git("add", "-A")
        self.git("commit", "-qm", subject, "--allow-empty")
        return self.git("rev-parse", "HEAD")

    def tree(self) -> dict[str, bytes]:
        paths = (p for p in self.folder.rglob("*.py") if ".git" not in p.parts)
        return {p.relative_to(self.folder).as_posix(): p.read_bytes() for p in paths}

    def run(self, files: Mapping[str, bytes | None], names: tuple[str, ...] = ()) -> Verdict:
        self.runs += 1
        tree: dict[str, bytes | None] = {**self.tree(), **files}

        def load(path: str) -> dict:
            data = tree.get(path)
            if data is None:
                raise ImportError(f"no {path}")
            space: dict = {}
            exec(compile(data, path, "exec"), space)
            return space

        wanted = {f"test_shop.py::{check.__name__}": check for check in self._checks}
        results = tuple(_result(name, wanted[name], load) for name in names or wanted)
        if any(result.outcome is Outcome.ERROR for result in results):
            return Verdict(Status.BROKEN, results)
        return Verdict(Status.RED if any(r.outcome.bad for r in results) else Status.GREEN, results)

    def probe(self, files: Mapping[str, bytes | None], names: tuple[str, ...] = ()) -> Future[Verdict]:
        future: Future[Verdict] = Future()
        future.set_result(self.run(files, names))
        return future

    def baseline(self) -> Baseline:
        return Baseline(self.run({}).results, {}, 0.1)

    def find(self, since: str = "auto", seconds: float = 120.0) -> Found:
        check(self.folder, since)
        before = self.tree()
        found = find(
            self.folder,
            since,
            baseline=self.baseline(),
            probe=self.probe,
            budget=Budget(Limits(seconds=seconds)),
        )
        assert self.tree() == before
        return found

    def patched(self, found: Found) -> list[tuple[str, str, dict[str, bytes]]]:
        """(operator, note, contents of the files it edits) of the candidates."""
        assert found.regression is not None

        def read(path: str) -> SourceFile:
            return SourceFile.read(self.folder, path)

        def files(candidate: Candidate) -> dict[str, bytes]:
            paths = {edit.path for edit in candidate.edits}
            return {p: read(p).apply([e for e in candidate.edits if e.path == p]) for p in paths}

        return [(c.operator, c.note, files(c)) for c in reverts(found.regression, read)]


def _result(name: str, check: Callable[[Callable[[str], dict]], None], load) -> TestResult:
    try:
        check(load)
    except Exception as error:
        outcome = Outcome.ERROR if isinstance(error, ImportError | SyntaxError) else Outcome.FAILED
        return TestResult(name, outcome, message="".join(traceback.format_exception_only(error)))
    return TestResult(name, Outcome.PASSED)


def _shop_test(load: Callable[[str], dict]) -> None:
    got = load("shop.py")["total"]([("book", 100)])
    assert got == 107, f"assert {got} == 107"


@pytest.fixture
def shop_test() -> Callable[..., Any]:
    return _shop_test


@pytest.fixture
def repo(tmp_path: Path) -> Callable[..., Repo]:
    def make(*checks: Callable[[Callable[[str], dict]], None], name: str = "project") -> Repo:
        return Repo(tmp_path / name, *(checks or (_shop_test,)))

    return make


def _history(repo: Repo, guilty: int, count: int) -> list[str]:
    """`count` commits, of which number `guilty` brings the bug among other changes."""
    ids = []
    for number in range(count):
        more: dict[str, str | None] = {"notes": f"N = {number}\n"}
        if number == 0:
            more["shop"] = SHOP
        if number == guilty:
            more["shop"] = (
                BAD.replace("result = 0", "result = 0 + 0") + "\n\ndef rebate(net):\n    return net // 10\n"
            )
        ids.append(repo.commit(f"number {number}", **more))
    return ids


@pytest.fixture
def history() -> Callable[..., Any]:
    return _history
