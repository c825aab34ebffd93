"""Reading the process tree."""

import os
import subprocess
import sys
import time

import pytest

from deskagent.terminal import tree

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="/proc is Linux's")


@pytest.fixture
def family(tmp_path):
    """A shell with a child and a grandchild; its name holds brackets and a space."""
    shell = tmp_path / "a) b ("
    shell.symlink_to("/bin/sh")
    process = subprocess.Popen(
        [shell, "-c", "sh -c 'sleep 60 & echo; wait' & wait"], stdout=subprocess.PIPE, start_new_session=True
    )
    process.stdout.readline()
    while [p.name for p in tree.descendants(process.pid)] != ["sh", "sleep"]:  # until it has become sleep
        time.sleep(0.01)
    yield process
    os.killpg(process.pid, 9)
    process.wait()
    process.stdout.close()


def test_one_process(family):
    process = tree.look(family.pid)
    assert (process.pid, process.parent) == (family.pid, os.getpid())
    assert process.session == process.group == family.pid
    assert (process.name, process.state) == ("a) b (", "S")
    assert tree.terminal_of(family.pid) == 0
    assert process.resident > 0
    assert tree.look(2**22 + 1) is None


def test_a_terminal_and_brackets_in_a_name(tmp_path):
    ours, theirs = os.openpty()
    program = tmp_path / "a) b ("
    program.symlink_to("/bin/cat")
    code = "import fcntl, os, sys, termios; fcntl.ioctl(0, termios.TIOCSCTTY, 0); os.execv(sys.argv[1], sys.argv[1:])"
    process = subprocess.Popen([sys.executable, "-c", code, program], stdin=theirs, start_new_session=True)
    try:
        while tree.look(process.pid).name != "a) b (":
            time.sleep(0.01)
        assert tree.terminal_of(process.pid) == os.fstat(theirs).st_rdev
    finally:
        process.kill()
        process.wait()
        os.close(ours)
        os.close(theirs)


def test_descendants_both_ways(family):
    by_children = tree.descendants(family.pid)
    by_parents = tree._below(family.pid, [p for pid in tree._pids() if (p := tree.look(pid))])
    assert [p.name for p in by_children] == ["sh", "sleep"]
    assert [p.pid for p in by_parents] == [p.pid for p in by_children]


def test_memory(family):
    processes = tree.descendants(family.pid)
    assert 0 < tree.proportional(processes) <= tree.resident(processes)


def test_nothing_below_nobody():
    assert tree.descendants(2**22 + 1) == []
