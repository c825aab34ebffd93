"""The worker's process: started by the first question, asked one at a time, ended where it falls silent, and started
anew by the next."""

from __future__ import annotations

import json
import os
import sys
import threading
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from deskagent.providers.base import ProviderError, Trouble
from deskagent.terminal.process import Process
from deskagent.terminal.sandbox import Unconfined
from deskagent.terminal.spawn import start
from deskagent.terminal.types import Command, Limits, Policy

_SILENCE = 600.0
"""Seconds without a word after which it hangs. A slow machine reads a piece of a prompt in a few."""
_GRACE = 10.0
"""Seconds that it has to stop when it is told to."""
_HINT = "Asking again starts it anew. Is there memory enough? A smaller --context needs less."
_INSTALL = "pip install 'deskagent[gguf]'"


class Child:
    """argv: starts the worker."""

    def __init__(self, argv: Sequence[str], *, silence: float = _SILENCE, grace: float = _GRACE) -> None:
        self._argv, self._silence, self._grace = tuple(argv), silence, grace
        self._process: Process | None = None
        self._lock = threading.Lock()
        self._number = 0

    @property
    def pid(self) -> int | None:
        return self._process.pid if self._process is not None else None

    def ask(self, question: dict[str, Any], stop: threading.Event) -> Iterator[dict[str, Any]]:
        """What the worker says to a question, its end included. stop: set to end the answer; the worker is ended where
        it doesn't heed. Errors: ProviderError."""
        with self._lock:
            process = self._started()
            self._number += 1
            number, told = self._number, False
            self._send(process, {"do": "ask", "id": number, **question})
            waited = 0.0
            while True:
                if stop.is_set() and not told:
                    told, waited = True, 0.0
                    self._send(process, {"do": "stop", "id": number})
                try:
                    line = process.stdout.line(timeout=0.1)
                except TimeoutError:
                    waited += 0.1
                    if waited > (self._grace if told else self._silence):
                        self.close()
                        if told:
                            return
                        raise self._gone(f"said nothing for {waited:.0f} seconds and was ended") from None
                    continue
                except ValueError:
                    line = b""
                waited = waited if told else 0.0
                message = self._read(process, line)
                if message.get("id") == number:
                    yield message
                    if message["is"] in ("end", "failed"):
                        return

    def close(self) -> None:
        """Ends the process."""
        process, self._process = self._process, None
        if process is not None:
            process.close()

    def _started(self) -> Process:
        """Errors: ProviderError where it can't be, or the model can't be loaded."""
        if self._process is not None and self._process.wait(0) is None:
            return self._process
        self.close()
        command = Command(self._argv, Path.cwd(), {**os.environ, "PYTHONSAFEPATH": "1"})
        unlimited = Limits(seconds=None, memory=None, processes=None, file_size=None)
        process = self._process = start(command, sandbox=Unconfined(), policy=Policy(), limits=unlimited)
        try:
            message = self._read(process, process.stdout.line(timeout=self._silence))
        except (TimeoutError, ValueError):
            self.close()
            raise self._gone("wasn't ready in time") from None
        if message["is"] != "ready":
            self.close()
            told = str(message.get("message", ""))
            hint = f"Install it: {_INSTALL}" if "No module named 'llama_cpp'" in told else ""
            raise ProviderError(Trouble.NO_MODEL, f"The model can't be loaded: {told}", hint=hint)
        return process

    def _send(self, process: Process, message: dict[str, Any]) -> None:
        try:
            process.send(json.dumps(message).encode() + b"\n", timeout=self._silence)
        except (OSError, TimeoutError):
            pass  # what it says next, or that it says nothing, tells

    def _read(self, process: Process, line: bytes) -> dict[str, Any]:
        try:
            found = json.loads(line)
            if isinstance(found, dict) and "is" in found:
                return found
        except ValueError:
            pass
        result = process.wait(1.0)
        self.close()
        words = process.stderr.decode("utf-8", "replace").strip().splitlines()[-1:]
        how = f"ended ({result.detail or f'exit code {result.code}'})" if result else "said what isn't known"
        raise self._gone(": ".join([how, *words]))

    def _gone(self, what: str) -> ProviderError:
        return ProviderError(Trouble.NETWORK, f"The model's process {what}.", hint=_HINT)


def worker(file: Path, context: int, *, mmproj: str = "", states: Path | None = None) -> list[str]:
    """What starts the worker of a GGUF."""
    argv = [sys.executable, "-m", "deskagent.providers.gguf.worker", str(file), "--context", str(context)]
    argv += ["--mmproj", mmproj] if mmproj else []
    return [*argv, "--states", str(states)] if states is not None else argv
