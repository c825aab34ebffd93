"""Moves bytes between us and a child until it has ended and all that it printed is read."""

from __future__ import annotations

import os
import select
import time
from collections.abc import Callable

from deskagent.terminal import pipes
from deskagent.terminal.child import Child, Ending

_LINGER = 0.2  # seconds to wait for output that somebody outside the tree still holds open


class Feeder:
    """Bytes on their way to a child's stdin or terminal. Owns `fd`, which must not block.

    `last` says that no more will follow: the end of the bytes is then the end of the input.
    """

    def __init__(self, fd: int, data: bytes, *, last: bool) -> None:
        self.fd = fd
        self._pending = memoryview(data)
        self._last = last
        self._settle()

    @property
    def pending(self) -> bool:
        return len(self._pending) > 0

    def add(self, data: bytes) -> None:
        """Appends bytes, once all earlier ones are gone."""
        self._pending = memoryview(data)

    def step(self) -> None:
        """Writes what goes without waiting."""
        written = pipes.write(self.fd, self._pending[: 1 << 16])
        self._pending = self._pending[len(self._pending) if written is None else written :]
        self._settle()

    def _settle(self) -> None:
        if self._last and not self.pending:
            self.close()

    def close(self) -> None:
        if self.fd >= 0:
            os.close(self.fd)
            self.fd = -1
        self._pending = memoryview(b"")


def pump(
    child: Child,
    source: int,
    take: Callable[[memoryview], None],
    *,
    feeder: Feeder | None = None,
    attend: Callable[[bool], None] | None = None,
    tick: float = 1.0,
) -> Ending:
    """Reads `source` into `take` until its end and the child's; how the child ended.

    The memory that `take` gets is used again afterwards. `attend` is called at least every `tick` seconds
    while the child runs, with whether there was output just now.
    """
    poller = select.poll()
    poller.register(source, select.POLLIN)
    poller.register(child, select.POLLIN)
    feeding = -1
    buffer = memoryview(bytearray(pipes.CHUNK))
    ending: Ending | None = None
    reading = True
    check_at = 0.0
    while ending is None or reading:
        wanted = feeder.fd if feeder and feeder.pending else -1
        if wanted != feeding:
            if feeding >= 0:
                poller.unregister(feeding)
            if wanted >= 0:
                poller.register(wanted, select.POLLOUT)
            feeding = wanted
        events = dict(poller.poll((tick if ending is None else _LINGER) * 1000))
        printed = reading and source in events
        if printed:
            count = pipes.read(source, buffer)
            if count:
                take(buffer[:count])
            elif count == 0:
                poller.unregister(source)
                reading = False
        elif ending is not None:
            break  # somebody outside the tree holds the other end: what they say isn't waited for
        if feeder and feeding in events:
            feeder.step()
        if ending is not None:
            continue
        # Also without an event, now and then: a supervisor that stopped answering is noticed by the clock.
        if child.fileno() in events or time.monotonic() >= check_at:
            check_at = time.monotonic() + 0.5
            ending = child.ending()
            if ending is not None:
                poller.unregister(child)
        if ending is None and attend:
            attend(printed)
    return ending
