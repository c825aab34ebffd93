"""The strongest rung: bubblewrap gives a command file system, processes and network of its own."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from pathlib import Path

from deskagent.terminal.sandbox import seccomp
from deskagent.terminal.sandbox.base import SandboxError, Wrapped, in_memory
from deskagent.terminal.sandbox.disk import is_dir
from deskagent.terminal.sandbox.plan import Kind, Mount, Plan
from deskagent.terminal.sandbox.secrets import host_sockets, secret_paths
from deskagent.terminal.sandbox.syscalls import this_machine
from deskagent.terminal.sandbox.visible import program_folders
from deskagent.terminal.types import Policy, Rung

# Not --new-session: a session without a terminal has no job control, and the filter refuses to type into one.
_NAMESPACES = ("--unshare-all", "--cap-drop", "ALL", "--die-with-parent")
# What root could still write to: kernel settings belong to user 0, with or without capabilities.
_KERNEL = ("sys", "sysrq-trigger", "irq", "bus", "fs", "acpi", "scsi", "mtrr")
# Process 1 is bubblewrap's own, below no filter: its memory must stay out of reach.
_BASE = (
    *("--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc"),
    *(word for name in _KERNEL for word in ("--ro-bind-try", f"/proc/{name}", f"/proc/{name}")),
    *("--tmpfs", "/proc/1", "--remount-ro", "/proc/1"),
)
_OPTIONS = {
    Kind.FRESH: "--tmpfs",
    Kind.PIN: "--bind",
    Kind.BIND: "--bind",
    Kind.VISIBLE: "--ro-bind",
    Kind.READ_ONLY: "--ro-bind",
    Kind.HIDDEN_FILE: "--ro-bind",
    Kind.HIDDEN_FOLDER: "--tmpfs",
}
_EMPTY = Path("/dev/null")


class Bubblewrap:
    """Runs commands by `program`, bubblewrap 0.4 or later.

    `own_users` says whether it makes a user namespace also where it doesn't have to (not where it is setuid
    root because the system allows none); `fresh_size` limits the command's own /tmp in bytes (0.8 and later).
    """

    rung = Rung.BWRAP

    def __init__(self, program: Path, *, own_users: bool = True, fresh_size: int | None = None) -> None:
        self._program = program
        self._own_users = own_users
        self._fresh_size = fresh_size

    def wrap(self, argv: tuple[str, ...], cwd: Path, env: Mapping[str, str], policy: Policy) -> Wrapped:
        """The command below bubblewrap; see Sandbox.wrap."""
        machine = this_machine()
        if machine is None:
            raise SandboxError("No system call filter is known for this kind of processor.")
        visible = program_folders(argv, env)
        if policy.network:
            visible = (*visible, Path("/etc/resolv.conf"))
        plan = Plan.of(
            policy, visible=visible, hidden=secret_paths(env, policy.hidden), sockets=host_sockets()
        )
        fds: list[int] = []
        try:
            cwd = Path(os.path.realpath(cwd))
            if not plan.shows(cwd) and cwd not in plan.mounts:
                raise SandboxError(f"{cwd} can't be seen in the sandbox.", hint="Start in the workspace.")
            rules = seccomp.rules(self.rung, network=policy.network)
            fds.append(in_memory("filter", seccomp.compile_filter(rules, machine)))
            words = [
                *_NAMESPACES,
                *(("--unshare-user",) if self._own_users else ()),
                *(("--share-net",) if policy.network else ()),
                *("--seccomp", str(fds[0])),
                *_BASE,
                *self._mounts(plan),
                *_environment(_with_temp(env, plan)),
                *("--chdir", str(cwd)),
            ]
            fds.append(in_memory("arguments", b"".join(os.fsencode(word) + b"\0" for word in words)))
        except BaseException:
            for fd in fds:
                os.close(fd)
            plan.clean_up()
            raise
        # The options go by descriptor: in argv every user could read the environment. Bubblewrap gets an
        # empty one: LD_PRELOAD and its like would act before anything is confined.
        command = (str(self._program), "--args", str(fds[1]), "--", *argv)
        return Wrapped(command, Path("/"), {}, tuple(fds), plan.clean_up)

    def _mounts(self, plan: Plan) -> Iterator[str]:
        ordered = plan.ordered()
        for path, mount in ordered:
            if mount.kind is Kind.FRESH and self._fresh_size is not None:
                yield from ("--size", str(self._fresh_size))
            yield _OPTIONS[mount.kind]
            if _OPTIONS[mount.kind] != "--tmpfs":
                yield str(_source(mount))
            yield str(path)
        for path, mount in ordered:  # last, since what lies inside needs its place made
            if mount.kind is Kind.HIDDEN_FOLDER:
                yield from ("--remount-ro", str(path))


def _source(mount: Mount) -> Path:
    return _EMPTY if mount.kind is Kind.HIDDEN_FILE else mount.source


def _with_temp(env: Mapping[str, str], plan: Plan) -> dict[str, str]:
    """`env` with a TMPDIR that can be written to."""
    fixed = dict(env)
    for name in ("TMPDIR", "TMP", "TEMP"):
        if name in env:
            above = plan.above(Path(os.path.realpath(env[name] or "/")))
            writable = above is not None and plan.mounts[above].kind in (Kind.BIND, Kind.PIN)
            if not (writable and is_dir(Path(env[name]))):
                fixed[name] = "/tmp"
    return fixed


def _environment(env: Mapping[str, str]) -> Iterator[str]:
    for name, value in env.items():
        yield from ("--setenv", name, value)
