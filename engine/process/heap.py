"""The C library's heap in a process where every connection has a thread of its own."""

from __future__ import annotations

import ctypes

_ARENA_MAX = -8
"""glibc's number for the most heaps that threads are given (malloc.h, M_ARENA_MAX)."""


def one_heap() -> bool:
    """Has all threads allocate from one heap; False where the C library has no such setting. To be called before
    there are threads.

    glibc gives threads up to eight heaps a processor, and each keeps what was free in it: thousands of requests, each
    computed by another thread, then hold several heaps' peaks. One step computes at a time, so nobody waits for the
    heap's lock.
    """
    try:
        mallopt = ctypes.CDLL(None).mallopt
    except (OSError, AttributeError, TypeError):  # another C library, or none to look into
        return False
    mallopt.argtypes, mallopt.restype = [ctypes.c_int, ctypes.c_int], ctypes.c_int
    return bool(mallopt(_ARENA_MAX, 1))
