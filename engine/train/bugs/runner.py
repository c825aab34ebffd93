"""The two processes that run a document's calls: one with another order of sets than the other, so that what only one
of them sees is not taken for true."""

from __future__ import annotations

import json
import os
import select
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Self

from engine.train.bugs.sandbox import confined

_SECONDS = 240
"""For a document, of the clock."""
_ROOT = Path(__file__).parents[3]


class Runner:
    """folder: has the files in `corpus`, a folder for each package. unsafe: without a sandbox. Errors: ConfigError
    where there is none."""

    def __init__(self, folder: Path, *, unsafe: bool = False) -> None:
        self._first, self._second = (
            _Process(folder, folder / f"work{number}", number, unsafe) for number in (1, 2)
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._first.close()
        self._second.close()

    def facts(self, given: Mapping[str, Any]) -> list[dict[str, Any]]:
        return list(self._second.ask(given))

    def bugs(self, given: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
        return self._first.ask(given) if given["functions"] else iter(())


class _Process:
    def __init__(self, folder: Path, work: Path, seed: int, unsafe: bool) -> None:
        work.mkdir()
        words = [sys.executable, "-B", "-m", "engine.train.bugs.child"]
        if not unsafe:
            words = confined([*words, "alone"], folder=folder, work=work, reads=[_ROOT])
        self._words, self._folder, self._work = words, folder, work
        self._env = {
            "PATH": os.defpath, "PYTHONPATH": str(_ROOT), "PYTHONHASHSEED": str(seed), "HOME": str(work),
            "LANG": "C.UTF-8", "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
            "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1",
        }  # fmt: skip
        self._running: subprocess.Popen[bytes] | None = None

    def ask(self, given: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
        """Answers about a document, as far as they come."""
        process = self._begun()
        assert process.stdin and process.stdout
        said = json.dumps({**given, "root": str(self._folder / "corpus" / given["package"])})
        try:
            process.stdin.write(said.encode() + b"\n")
            process.stdin.flush()
        except BrokenPipeError:
            self.close()
            return
        for line in _lines(process.stdout.fileno(), time.monotonic() + _SECONDS):
            if not line:
                return
            try:
                answer = json.loads(line)
            except ValueError:  # cut where a process was ended
                continue
            yield answer
        self.close()  # it was lost with the document; the next one has a new process

    def _begun(self) -> subprocess.Popen[bytes]:
        if self._running is None:
            self._running = subprocess.Popen(
                self._words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                cwd=self._work, env=self._env, start_new_session=True,
            )  # fmt: skip
        return self._running

    def close(self) -> None:
        if self._running is not None:
            self._running.kill()
            self._running.communicate()
            self._running = None


def _lines(reading: int, until: float) -> Iterator[bytes]:
    """Lines until the stream ends or time is out."""
    kept = b""
    while (left := until - time.monotonic()) > 0 and select.select([reading], [], [], left)[0]:
        more = os.read(reading, 1 << 16)
        if not more:
            return
        *whole, kept = (kept + more).split(b"\n")
        yield from whole
