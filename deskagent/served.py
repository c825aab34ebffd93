"""The engine's process that serves a checkpoint: started by the first question, shared between all runs that ask the
same of it, gone when idle."""

from __future__ import annotations

import hashlib
import importlib.util
import os
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from deskagent import __version__, licences
from deskagent.paths import runtime_dir

if TYPE_CHECKING:
    from engine.process.client import Client

_NEEDED = ("torch", "safetensors", "tokenizers")
"""What the process, and who asks it, need to be installed."""


def missing() -> str:
    """What of it isn't installed, in words; "" for nothing."""
    absent = [name for name in _NEEDED if importlib.util.find_spec(name) is None]
    return f"{' and '.join(absent)} {'is' if len(absent) == 1 else 'are'} not installed" if absent else ""


def client(checkpoint: Path, options: Sequence[str], silence: float) -> Client:
    """Asks the process of the checkpoint in this folder. options: of `engine.process`. silence: seconds without a word
    after which it counts as hanging. Errors: EngineError, OSError."""
    from engine.process.client import Client

    checkpoint = checkpoint.absolute()
    options = [*options, *_agreed(checkpoint)]
    # one of another checkpoint in that folder, of other options, or of an earlier version is another process
    told = "\0".join([__version__, str(checkpoint), *options, *_files(checkpoint)])
    folder = runtime_dir() / hashlib.sha256(told.encode()).hexdigest()[:12]
    process = [sys.executable, "-m", "engine.process", str(folder), str(checkpoint)]
    return Client(folder, [*process, *options], silence=silence)


def _files(checkpoint: Path) -> Iterator[str]:
    """What tells the checkpoint from one that was put in its place."""
    with os.scandir(checkpoint) as found:
        for file in sorted(found, key=lambda file: file.name):
            now = file.stat()
            yield f"{file.name} {now.st_size} {now.st_mtime_ns} {now.st_ino}"


def _agreed(checkpoint: Path) -> list[str]:
    """What the process has to be told of a licence that the person agreed to, now or before."""
    from engine.weights.card import fingerprint, licence_of

    licence = licence_of(checkpoint)
    digest = None if licence is None else fingerprint(checkpoint, licence)
    return ["--agreed", digest] if digest is not None and licences.is_agreed(digest) else []
