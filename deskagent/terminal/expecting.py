"""pexpect's matching over bytes that somebody else reads."""

from __future__ import annotations

from collections.abc import Callable

import pexpect
from pexpect.spawnbase import SpawnBase


class Expecter(SpawnBase):
    """`expect` and its kin over `read(timeout)`, which returns b"" at the end and raises TimeoutError."""

    def __init__(self, read: Callable[[float | None], bytes]) -> None:
        super().__init__(searchwindowsize=1 << 16)
        self._read = read

    def read_nonblocking(self, size: int = 1, timeout: float | None = None) -> bytes:
        try:
            data = self._read(self.timeout if timeout == -1 else timeout)
        except TimeoutError:
            raise pexpect.TIMEOUT("nothing more was printed in time") from None
        if not data:
            self.flag_eof = True
            raise pexpect.EOF("it has ended")
        return data
