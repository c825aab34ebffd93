"""One heap for all threads, where the C library gives each several."""

from __future__ import annotations

import ctypes
import subprocess
import sys

import pytest

COUNT = """
import ctypes, re, sys, threading
from engine.process.heap import one_heap
if sys.argv[1] == "one":
    assert one_heap()
c = ctypes.CDLL(None)
c.malloc.restype = ctypes.c_void_p
stay, made = threading.Barrier(5), []
def take():
    made.append(c.malloc(5000))
    stay.wait()
threads = [threading.Thread(target=take) for _ in range(4)]
for thread in threads:
    thread.start()
stay.wait()
for thread in threads:
    thread.join()
c.fdopen.restype = ctypes.c_void_p
file = ctypes.c_void_p(c.fdopen(1, b"w"))
assert c.malloc_info(0, file) == 0
c.fflush(file)
"""


def heaps(how: str) -> int:
    run = [sys.executable, "-c", COUNT, how]
    return subprocess.run(run, check=True, capture_output=True, text=True).stdout.count("<heap nr")


@pytest.mark.skipif(not hasattr(ctypes.CDLL(None), "malloc_info"), reason="the C library isn't glibc")
def test_threads_share_one_heap() -> None:
    assert heaps("several") > 1
    assert heaps("one") == 1
