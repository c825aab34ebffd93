"""Reading the process tree."""

import os
import subprocess
import sys

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
    yield process
    os.killpg(process.pid, 9)
    process.wait()
    process.stdout.close()


def test_one_process(family):
    process = tree.look(family.pid)
    assert (process.pid, process.parent, process.session, process.tty) == (
        family.pid,
        os.getpid(),
        family.pid,
        0,
    )
    assert process.state == "S"
    assert process.resident > 0
    assert tree.look(2**22 + 1) is None


def test_brackets_in_a_name():
    process = tree.Process(7, b"7 (a) b (c)) S 1 2 3 34817 5 " + b"0 " * 14 + b"3 0")
    assert (process.name, process.state, process.parent, process.group, process.session) == (
        "a) b (c)",
        "S",
        1,
        2,
        3,
    )


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
