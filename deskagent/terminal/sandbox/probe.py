"""Finds out what confines a process on this machine, by confining one and letting it try to get out."""

from __future__ import annotations

import functools
import os
import re
import socket
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from deskagent.terminal import temporary
from deskagent.terminal.sandbox.base import Sandbox, SandboxError, Unconfined
from deskagent.terminal.sandbox.bwrap import Bubblewrap
from deskagent.terminal.sandbox.confine import kernel
from deskagent.terminal.sandbox.disk import is_file
from deskagent.terminal.sandbox.landlock import Landlock
from deskagent.terminal.sandbox.syscalls import this_machine
from deskagent.terminal.types import Policy, Rung

OVERRIDE = "DESKAGENT_SANDBOX"
_SECONDS = 30.0  # on a busy machine too: a trial that is cut short means a weaker rung
_SYSTEM_FOLDERS = ("/usr/bin", "/bin", "/usr/local/bin", "/run/current-system/sw/bin", "/sbin", "/usr/sbin")

# Prints one letter for each thing that it could do.
_TRIAL = """
import os, sys, _socket
inside, outside, secret, port = sys.argv[1:]
def tried(letter, act):
    try:
        act()
    except OSError:
        return
    print(letter, end="")
def connect():
    _socket.socket(_socket.AF_INET, _socket.SOCK_STREAM).connect(("127.0.0.1", int(port)))
tried("i", lambda: open(inside, "x").close())
tried("o", lambda: open(outside, "x").close())
tried("m", lambda: os.chmod(os.path.dirname(outside), 0o755))
tried("s", lambda: open(secret).close())
tried("n", connect)
status = open("/proc/self/status").read()
tried("f", lambda: None if "Seccomp:\\t2" in status else os.stat(""))
tried("c", lambda: os.stat("") if "CapEff:\\t0000000000000000" in status else None)
"""
_EXPECTED = "if"  # it writes inside, below a filter, and nothing else
_MEANINGS = {
    "o": "a confined process could write outside its folder",
    "m": "a confined process could change a mode outside its folder",
    "s": "a confined process could read a secret",
    "n": "a confined process could connect to a program outside",
    "c": "a confined process kept capabilities",
}


@dataclass(frozen=True)
class RungReport:
    """Whether a rung works here: `found` is what was found, `todo` what to do about it."""

    rung: Rung
    works: bool
    found: str
    todo: str = ""


@dataclass(frozen=True)
class Report:
    """The rungs that confine, the strongest first, and the one that is used (NONE if neither works)."""

    rungs: tuple[RungReport, ...]
    best: Rung


def find_sandbox(prefer: Rung | None = None) -> Sandbox:
    """The strongest sandbox that works here; Unconfined (rung NONE) where none does.

    `prefer`, or the environment's DESKAGENT_SANDBOX, names one rung: that one is given, or SandboxError
    raised. Found by trying, once a process.
    """
    if prefer is None:
        prefer = _override()
    for rung in (Rung.BWRAP, Rung.LANDLOCK) if prefer is None else (prefer,):
        if rung is Rung.NONE:
            return Unconfined()
        sandbox, report = _found(rung)
        if sandbox is not None:
            return sandbox
        if prefer is not None:
            raise SandboxError(f"The sandbox {rung} doesn't work here: {report.found}.", hint=report.todo)
    return Unconfined()


def probe() -> Report:
    """Tries every rung, for people to read."""
    rungs = [_found(rung)[1] for rung in (Rung.BWRAP, Rung.LANDLOCK)]
    best = next((report.rung for report in rungs if report.works), Rung.NONE)
    return Report(tuple(rungs), best)


def no_sandbox() -> SandboxError:
    """The error for a run that can't ask on a machine where nothing can be confined."""
    hints = dict.fromkeys(report.todo for report in probe().rungs if report.todo)
    return SandboxError(
        "No sandbox works on this machine, and there is nobody to ask about each command.",
        hint="\n".join((*hints, "Or run without a sandbox: --permission-mode full")),
    )


def _override() -> Rung | None:
    value = os.environ.get(OVERRIDE, "")
    if not value:
        return None
    try:
        return Rung(value)
    except ValueError:
        names = ", ".join(Rung)
        raise SandboxError(f"{OVERRIDE}={value} is no kind of sandbox.", hint=f"One of: {names}.") from None


@functools.cache
def _found(rung: Rung) -> tuple[Sandbox | None, RungReport]:
    if sys.platform != "linux":
        return None, RungReport(rung, False, "it needs Linux")
    if this_machine() is None:
        return None, RungReport(rung, False, f"no system call filter for {os.uname().machine}")
    return _find_bwrap() if rung is Rung.BWRAP else _find_landlock()


def _find_bwrap() -> tuple[Sandbox | None, RungReport]:
    program = next(_programs("bwrap"), None)
    if program is None:
        hint = "Install bubblewrap (apt install bubblewrap, dnf install bubblewrap, pacman -S bubblewrap)."
        return None, RungReport(Rung.BWRAP, False, "bubblewrap is not installed", hint)
    version = _version(program)
    if version < (0, 4):
        return None, RungReport(
            Rung.BWRAP, False, f"{program} is older than 0.4", "Install a newer bubblewrap."
        )
    size = _memory() // 4 if version >= (0, 8) else None
    name = f"{program} {'.'.join(map(str, version))}"
    first = ""
    for own_users in (True, False):
        sandbox = Bubblewrap(program, own_users=own_users, fresh_size=size)
        fault = _try(sandbox)
        if not fault:
            return sandbox, RungReport(Rung.BWRAP, True, name)
        first = first or fault
    return None, RungReport(Rung.BWRAP, False, f"{name}: {first}", _bwrap_hint(first))


def _find_landlock() -> tuple[Sandbox | None, RungReport]:
    version = kernel.landlock_version()
    if version == 0:
        hint = "Linux 5.13 or later with landlock in the kernel's list of security modules (lsm=landlock,…)."
        return None, RungReport(Rung.LANDLOCK, False, "the kernel has no Landlock", hint)
    sandbox = Landlock(version)
    fault = _try(sandbox)
    name = f"Landlock version {version}"
    if fault:
        return None, RungReport(Rung.LANDLOCK, False, f"{name}: {fault}")
    hint = "" if version >= 6 else "From Linux 6.12 on, signals to your other programs are stopped as well."
    return sandbox, RungReport(Rung.LANDLOCK, True, name, hint)


def _try(sandbox: Sandbox) -> str:
    """What went wrong when a process was confined by `sandbox` and tried to get out; empty if nothing."""
    folder = temporary.make("probe")
    try:
        inside, secret = folder / "inside", folder / "secret"
        inside.mkdir()
        secret.write_text("canary")
        with socket.create_server(("127.0.0.1", 0)) as server:
            argv = (
                *(sys.executable, "-I", "-S", "-E", "-c", _TRIAL, str(inside / "file"), str(folder / "file")),
                *(str(secret), str(server.getsockname()[1])),
            )
            policy = Policy(writable=(inside,), hidden=(secret,), readable=(folder,))
            return _run(sandbox, argv, inside, policy)
    except (OSError, SandboxError) as error:
        return str(error)
    finally:
        temporary.drop(folder)


def _run(sandbox: Sandbox, argv: tuple[str, ...], cwd: Path, policy: Policy) -> str:
    wrapped = sandbox.wrap(argv, cwd, {"PATH": os.defpath}, policy)
    try:
        done = subprocess.run(
            wrapped.argv,
            cwd=wrapped.cwd,
            env=dict(wrapped.env),
            pass_fds=wrapped.fds,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=_SECONDS,
            start_new_session=True,
        )
    except subprocess.TimeoutExpired:
        return f"a confined process did not end within {_SECONDS:g} s"
    finally:
        for fd in wrapped.fds:
            os.close(fd)
        wrapped.cleanup()
    if done.returncode == 0 and done.stdout == _EXPECTED:
        return ""
    meanings = [_MEANINGS[letter] for letter in done.stdout if letter in _MEANINGS]
    lines = done.stderr.strip().splitlines()
    return "; ".join(meanings) or (lines[-1] if lines else f"a confined process ended with {done.returncode}")


def _programs(name: str) -> Iterator[Path]:
    """Where `name` lies in the system's folders, or elsewhere on PATH if it is root's: never a project's."""
    for folder in (*_SYSTEM_FOLDERS, *os.environ.get("PATH", "").split(os.pathsep)):
        path = Path(folder) / name
        if folder.startswith("/") and is_file(path) and os.access(path, os.X_OK):
            found = path.stat()
            if found.st_uid == 0 and not found.st_mode & 0o022:
                yield path


def _version(program: Path) -> tuple[int, ...]:
    try:
        done = subprocess.run(
            [program, "--version"], capture_output=True, text=True, timeout=_SECONDS, env={}, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return ()
    return tuple(int(number) for number in re.findall(r"\d+", done.stdout)[:3])


def _memory() -> int:
    return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")


# setting, the value that forbids, what to do
_SETTINGS = (
    (
        "kernel/apparmor_restrict_unprivileged_userns",
        "1",
        "AppArmor keeps programs from making user namespaces. Allow it to bubblewrap by a profile "
        "(/etc/apparmor.d/bwrap: `profile bwrap /usr/bin/bwrap flags=(unconfined) { userns, }`, then "
        "`sudo systemctl reload apparmor`).",
    ),
    (
        "kernel/unprivileged_userns_clone",
        "0",
        "User namespaces are switched off: sudo sysctl -w kernel.unprivileged_userns_clone=1",
    ),
    (
        "user/max_user_namespaces",
        "0",
        "User namespaces are switched off: sudo sysctl -w user.max_user_namespaces=15000",
    ),
)


def _bwrap_hint(fault: str) -> str:
    for setting, forbids, hint in _SETTINGS:
        try:
            if Path("/proc/sys", setting).read_text().strip() == forbids:
                return hint
        except OSError:  # this kernel has no such setting
            continue
    if "proc" in fault or "ermission" in fault or "not permitted" in fault:
        return "Inside a container, namespaces have to be allowed to it; else the next rung is used."
    return ""
