"""Does a process wait for somebody to type?

Linux tells: a thread that sleeps in a system call on our terminal is waiting for it. A read(2) of the
terminal is certain; poll, select and epoll are also how event loops sleep, so they count only where the
terminal looks like a dialogue (single-key mode, full screen, a prompt as the last line). Where /proc is
silent: a prompt, or a full screen, and nothing new for a while.
"""

from __future__ import annotations

import os
import platform
import re
import struct
import termios
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from deskagent.terminal import tree

PATIENCE = 1.0
"""Seconds without output after which a process that reads the terminal is taken to wait."""

_PATIENCE_GUESS = 4.0  # the same, where only the looks speak for it

_CALLS = {
    "x86_64": {0: "read", 19: "read", 7: "poll", 271: "poll", 23: "select", 270: "select",
               232: "epoll", 281: "epoll", 441: "epoll"},
    "aarch64": {63: "read", 65: "read", 73: "poll", 72: "select", 22: "epoll", 441: "epoll"},
}  # fmt: skip
_BY_NUMBER = _CALLS.get(platform.machine(), {})
_POLLIN = 1

_PROMPT = re.compile(
    r"""[:?>$\#%\]）：？]\s*$ | \(y/n\)\W*$ | --\s?more\s?-- | \(end\) | press\ .*(key|enter|return)""",
    re.VERBOSE | re.IGNORECASE,
)
_ESCAPES = re.compile(
    rb"\x1b(\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(\x07|\x1b\\)|[@-Z\\-_=>()].?)|[\x00-\x08\x0e-\x1f]"
)
_ALTERNATE = re.compile(rb"\x1b\[\?(?:1049|1047|47)([hl])")


@dataclass(frozen=True)
class Waiting:
    """A process that waits: its name ("" unknown), how it is known, and the last line it printed."""

    program: str
    how: str  # "read", "poll" or "looks"
    printed: str
    full_screen: bool = False

    def __str__(self) -> str:
        kind = "shows a full screen and waits for keys" if self.full_screen else "waits for input"
        return f"{self.program or 'it'} {kind}" + (
            f" after printing {self.printed!r}" if self.printed else ""
        )


def last_line(output: bytes) -> str:
    """The last line with something on it, escape sequences removed, at most 200 characters."""
    text = _ESCAPES.sub(b"", output[-8192:]).decode("utf-8", "replace")
    lines = [line.strip() for line in re.split(r"[\r\n]+", text)]
    return next((line[-200:] for line in reversed(lines) if line), "")


def looks_like_prompt(output: bytes) -> bool:
    """Whether `output` ends in an unfinished line that asks something."""
    plain = _ESCAPES.sub(b"", output[-8192:])
    return not plain.endswith((b"\n", b"\r")) and bool(_PROMPT.search(last_line(output)))


class Watcher:
    """Watches one terminal. `ours` is our end of it, `theirs` the child's end, which is only looked at here;
    `root` the pid below which (or at which) the processes live."""

    def __init__(self, ours: int, theirs: int, root: int) -> None:
        self._ours = ours
        self._root = root
        self._terminal = os.fstat(theirs)
        self._last_output = time.monotonic()
        self._recent = b""
        self.full_screen = False

    def saw(self, data: bytes | memoryview) -> None:
        """Tells that the child printed `data`."""
        self._last_output = time.monotonic()
        self._recent = (self._recent + bytes(data[-8192:]))[-8192:]
        for switch in _ALTERNATE.finditer(self._recent):
            self.full_screen = switch[1] == b"h"

    def typed(self) -> None:
        """Tells that input was written: what it does with it takes time."""
        self._last_output = time.monotonic()

    def look(self) -> Waiting | None:
        """Who waits, if anybody does. Cheap while output comes; else some milliseconds."""
        quiet = time.monotonic() - self._last_output
        if quiet < PATIENCE:
            return None
        processes = tree.descendants(self._root)
        if any(p.state in "RD" for p in processes) and not self.full_screen:
            return None
        dialogue = self.full_screen or looks_like_prompt(self._recent) or self._single_keys()
        known = False
        for process in processes:
            how = self._how(process)
            known = known or how is not None
            if how == "read" or (how == "poll" and dialogue):
                return Waiting(process.name, how, last_line(self._recent), self.full_screen)
        if not known and dialogue and quiet >= _PATIENCE_GUESS:
            return Waiting("", "looks", last_line(self._recent), self.full_screen)
        return None

    def _single_keys(self) -> bool:
        try:
            return not termios.tcgetattr(self._ours)[3] & termios.ICANON
        except termios.error:
            return False

    def _how(self, process: tree.Process) -> str | None:
        """How it sleeps: "read" or "poll" on the terminal, "" elsewhere, None where /proc hides it."""
        best: str | None = None
        for thread in tree.threads(process.pid):
            call = (tree.read_file(f"/proc/{process.pid}/task/{thread}/syscall") or b"").split()
            if not call or not _BY_NUMBER:
                continue
            if call[0] in (b"running", b"-1"):
                best = best or ""
                continue
            name = _BY_NUMBER.get(int(call[0]))
            arguments = [int(word, 16) for word in call[1:7]]
            fds = _FDS[name](process.pid, arguments) if name else ()
            if any(self._is_terminal(process, fd) for fd in fds):
                if name == "read":
                    return "read"
                best = "poll"
            best = best or ""
        return best

    def _is_terminal(self, process: tree.Process, fd: int) -> bool:
        try:
            there = Path(f"/proc/{process.pid}/fd/{fd}").stat()
        except OSError:
            return False
        if there.st_rdev == self._terminal.st_rdev and there.st_dev == self._terminal.st_dev:
            return True
        return (
            there.st_rdev == os.makedev(5, 0) and tree.terminal_of(process.pid) == self._terminal.st_rdev
        )  # /dev/tty


def _memory(pid: int, address: int, count: int) -> bytes:
    try:
        fd = os.open(f"/proc/{pid}/mem", os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return b""
    try:
        return os.pread(fd, count, address) if address else b""
    except OSError:
        return b""
    finally:
        os.close(fd)


def _polled(pid: int, arguments: list[int]) -> list[int]:
    data = _memory(pid, arguments[0], 8 * min(arguments[1], 1024))
    entries = struct.iter_unpack("ihh", data[: len(data) // 8 * 8])
    return [fd for fd, events, _ in entries if events & _POLLIN and fd >= 0]


def _selected(pid: int, arguments: list[int]) -> list[int]:
    bits = int.from_bytes(_memory(pid, arguments[1], (min(arguments[0], 1024) + 7) // 8), "little")
    return [fd for fd in range(bits.bit_length()) if bits >> fd & 1]


def _epolled(pid: int, arguments: list[int]) -> list[int]:
    found = []
    for line in (tree.read_file(f"/proc/{pid}/fdinfo/{arguments[0]}") or b"").splitlines():
        words = line.split()
        if words[:1] == [b"tfd:"] and int(words[3], 16) & _POLLIN:
            found.append(int(words[1]))
    return found


_FDS: dict[str, Callable[[int, list[int]], list[int]]] = {
    "read": lambda _, arguments: [arguments[0]],
    "poll": _polled,
    "select": _selected,
    "epoll": _epolled,
}
