"""Where code that nobody has read is run: nothing to write but a folder in memory, no network, no other processes."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Sequence
from pathlib import Path

from engine.errors import ConfigError

_HIDDEN = ("/tmp", "/var/tmp", "/run", "/root", "/home", "/mnt", "/srv")
"""What an interpreter needs of these is put back."""
_SPACE = 64 << 20
"""Bytes that may be written in all."""


def available() -> bool:
    return sys.platform == "linux" and shutil.which("bwrap") is not None


def confined(argv: Sequence[str], *, folder: Path, work: Path, reads: Sequence[Path]) -> list[str]:
    """The command that runs argv in a sandbox. folder: what it may read, beside the system's files and `reads`. work:
    an empty folder that it may write to, for itself. Errors: ConfigError where this machine has no bwrap."""
    program = shutil.which("bwrap")
    if program is None or not available():
        raise ConfigError(
            "bugs are only run in a sandbox: install bubblewrap (bwrap), or say --unsafe on a machine that may be lost"
        )
    words = [
        program, "--unshare-all", "--die-with-parent", "--new-session", "--cap-drop", "ALL",
        "--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc",
    ]  # fmt: skip
    for hidden in _HIDDEN:
        if Path(hidden).is_dir() and not Path(hidden).is_symlink():
            words += ["--tmpfs", hidden]
    shown = [
        folder,
        *reads,
        Path(sys.prefix),
        Path(sys.base_prefix),
        Path(sys.executable).resolve().parents[1],
    ]
    for path in sorted({each.resolve() for each in shown}):
        if any(path.is_relative_to(hidden) for hidden in _HIDDEN):
            words += ["--ro-bind", str(path), str(path)]
    words += ["--size", str(_SPACE), "--tmpfs", str(work.resolve()), "--chdir", str(work.resolve())]
    for hidden in _HIDDEN:
        if Path(hidden).is_dir() and not Path(hidden).is_symlink():
            words += ["--remount-ro", hidden]
    return [*words, "--", *argv]
