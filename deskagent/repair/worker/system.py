"""What Linux offers to keep a tree of processes in hand. Elsewhere these do nothing."""

import os
import signal
import sys
import time

_PDEATHSIG, _CHILD_SUBREAPER = 1, 36

try:
    import ctypes

    _prctl = ctypes.CDLL(None, use_errno=True).prctl if sys.platform == "linux" else None
except (ImportError, OSError, AttributeError):  # a Python built without ctypes
    _prctl = None


def die_with_parent():
    if _prctl is not None:
        _prctl(_PDEATHSIG, int(signal.SIGKILL), 0, 0, 0)


def adopt_orphans():
    """Processes whose parents die become children of this one, so that `kill_children` finds them."""
    if _prctl is not None:
        _prctl(_CHILD_SUBREAPER, 1, 0, 0, 0)


def children(pid):
    """Ids of the direct children of `pid`."""
    found = []
    try:
        for thread in os.listdir("/proc/%d/task" % pid):
            with open("/proc/%d/task/%s/children" % (pid, thread)) as listing:
                found.extend(map(int, listing.read().split()))
        return found
    except FileNotFoundError:  # a kernel without that file, or no /proc
        return [child for child in _all_pids() if _parent(child) == pid]


def _all_pids():
    try:
        return [int(name) for name in os.listdir("/proc") if name.isdigit()]
    except OSError:
        return []


def _parent(pid):
    try:
        with open("/proc/%d/stat" % pid, "rb") as stat:
            return int(stat.read().rpartition(b")")[2].split()[1])
    except (OSError, ValueError, IndexError):
        return None


def wants_cpu(pid):
    """Whether `pid` is running or would be, were the machine less busy."""
    try:
        with open("/proc/%d/stat" % pid, "rb") as stat:
            return stat.read().rpartition(b")")[2].split()[0] == b"R"
    except (OSError, IndexError):
        return False


def kill_group(pid):
    for kill in (os.killpg, os.kill):
        try:
            kill(pid, signal.SIGKILL)
        except (ProcessLookupError, PermissionError):
            pass


def kill_children(seconds=2.0):
    """Kills and reaps all children of this process, and what they leave behind, until none is left."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        try:
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
        except ChildProcessError:
            return
        for pid in children(os.getpid()):
            kill_group(pid)
        time.sleep(0.002)


def memory(field):
    """`VmSize`, `VmPeak`, … of this process in bytes; 0 where that can't be told."""
    try:
        with open("/proc/self/status") as status:
            for line in status:
                if line.startswith(field + ":"):
                    return int(line.split()[1]) << 10
    except (OSError, ValueError, IndexError):
        pass
    return 0
