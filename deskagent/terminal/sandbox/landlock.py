"""The middle rung: Landlock and a system call filter, where bubblewrap is missing or not allowed.

Landlock only ever allows, and what it allows for a folder holds for all that lies in it. So a secret is kept
by allowing everything beside it; nothing inside a writable folder is protected, so commands run in a copy.
"""

from __future__ import annotations

import marshal
import os
import sys
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from deskagent.terminal import temporary
from deskagent.terminal.sandbox import seccomp
from deskagent.terminal.sandbox.base import SandboxError, Wrapped, in_memory
from deskagent.terminal.sandbox.disk import is_dir
from deskagent.terminal.sandbox.secrets import secret_paths
from deskagent.terminal.sandbox.syscalls import this_machine
from deskagent.terminal.types import Policy, Rung

_LAUNCHER = Path(__file__).parent / "confine"
_NEWEST = 7  # the last version of Landlock whose rights the launcher knows
_IN_DEV = ("null", "zero", "full", "random", "urandom", "tty", "ptmx")
_DEV = Path("/dev")
# What POSIX semaphores and shared memory are made in: no path in a program's hands says otherwise.
_SHARED_MEMORY = Path("/dev/shm")
_TEMP_NAMES = ("TMPDIR", "TMP", "TEMP")


class Landlock:
    """Runs commands by the launcher beside this file, under `version` of Landlock."""

    rung = Rung.LANDLOCK

    def __init__(self, version: int) -> None:
        self._version = min(version, _NEWEST)

    def wrap(self, argv: tuple[str, ...], cwd: Path, env: Mapping[str, str], policy: Policy) -> Wrapped:
        """The command below the launcher; see Sandbox.wrap."""
        machine = this_machine()
        if machine is None:
            raise SandboxError("No system call filter is known for this kind of processor.")
        hidden = set(secret_paths(env, policy.hidden))
        writable = [_writable(path) for path in policy.writable]
        _check(policy, writable, hidden)
        own_temp = _own_temp(env, writable)
        if own_temp is not None:
            writable.append(own_temp)
        if is_dir(_SHARED_MEMORY):
            writable.append(_SHARED_MEMORY)
        watched = {machine.number(name): name for name in seccomp.WATCHED}
        tops = (Path("/"), *(Path(os.path.realpath(path)) for path in policy.readable))
        rules = seccomp.rules(self.rung, network=policy.network, abi=self._version)
        job = {
            "argv": list(argv),
            "cwd": str(cwd),
            "env": {**env, **({} if own_temp is None else dict.fromkeys(_TEMP_NAMES, str(own_temp)))},
            "abi": self._version,
            "rules": [
                ("/", "list"),
                *((str(path), "read") for top in tops for path in readable(top, hidden | {_DEV})),
                *((os.path.realpath(_DEV / name), "device") for name in _IN_DEV),
                *((str(path), "write") for path in writable),
            ],
            "network": policy.network,
            "filter": seccomp.compile_filter(rules, machine),
            "watched": watched,
            "writable": [str(path) for path in writable],
        }

        def cleanup() -> None:
            if own_temp is not None:
                temporary.drop(own_temp)

        try:
            fd = in_memory("job", marshal.dumps(job))
        except BaseException:
            cleanup()
            raise
        command = (sys.executable, "-I", "-S", "-E", str(_LAUNCHER), str(fd))
        return Wrapped(command, Path("/"), {}, (fd,), cleanup)


def readable(top: Path, holes: Iterable[Path]) -> Iterator[Path]:
    """The outermost files and folders that cover all in `top` but for `holes` (real paths)."""
    closed = set(holes)
    open_above = {parent for path in closed for parent in path.parents}
    todo = [top]
    while todo:
        path = todo.pop()
        if path in closed:
            continue
        if path not in open_above:
            yield path
            continue
        try:
            with os.scandir(path) as entries:
                todo += [Path(entry.path) for entry in entries if not entry.is_symlink()]
        except OSError:  # not readable to us, so not to the command
            continue


def _writable(path: Path) -> Path:
    if not is_dir(path):
        raise SandboxError(f"{path} is not a folder, so it can't be made writable.")
    return Path(os.path.realpath(path))


def _check(policy: Policy, writable: list[Path], hidden: set[Path]) -> None:
    if policy.mounts:
        raise SandboxError(
            "Landlock can't show a folder at another path.",
            hint="Run the command inside the scratch copy itself.",
        )
    for folder in writable:
        if folder == Path("/"):
            raise SandboxError("The whole disk can't be made writable.", hint="Name the folder you work in.")
        for path in policy.read_only:
            if Path(os.path.realpath(path)).is_relative_to(folder):
                raise SandboxError(
                    f"Landlock can't protect {path} inside {folder}, which is writable.",
                    hint="Run the command in a scratch copy and leave read_only empty.",
                )
        for path in hidden:
            if path.is_relative_to(folder):
                raise SandboxError(
                    f"Landlock can't hide {path} inside {folder}, which is writable.",
                    hint="Run the command in a scratch copy without it, or install bubblewrap.",
                )


def _own_temp(env: Mapping[str, str], writable: list[Path]) -> Path | None:
    """A new folder for the command's temporary files, None where TMPDIR is a writable one already."""
    named = env.get("TMPDIR", "")
    if (
        named
        and is_dir(Path(named))
        and any(Path(os.path.realpath(named)).is_relative_to(w) for w in writable)
    ):
        return None
    return temporary.make("temp")
