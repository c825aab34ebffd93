"""What a process tree may use, and what the result says when it wanted more."""

import shutil

import pytest

from deskagent.terminal.spawn import run
from deskagent.terminal.types import End, Limits


def test_memory(py, free):
    result = run(
        py("x = bytearray(400 << 20); import time; time.sleep(30)"),
        limits=Limits(memory=200 << 20),
        **free,
    )
    assert result.end is End.MEMORY
    assert "200 MiB are allowed" in result.detail


def test_memory_of_the_whole_tree(py, free):
    code = (
        "import os, time\n"
        "for _ in range(4):\n    if not os.fork():\n"
        "        x = bytearray(os.urandom(1)) * (60 << 20)\n        time.sleep(30)\n"
        "time.sleep(30)"
    )
    assert run(py(code), limits=Limits(memory=200 << 20), **free).end is End.MEMORY


def test_shared_memory_counts_once(py, free):
    code = (
        "import os, time\nx = b'x' * (80 << 20)\n"
        "for _ in range(5):\n    if not os.fork():\n        time.sleep(1)\n        os._exit(0)\n"
        "time.sleep(1)"
    )
    result = run(py(code), limits=Limits(memory=250 << 20), **free)
    assert (result.end, result.code) == (End.EXITED, 0)


def test_number_of_processes(sh, free, marked):
    line = f"for i in $(seq 40); do sleep {marked.token} & done; wait"
    result = run(sh(line), limits=Limits(processes=20), **free)
    assert result.end is End.PROCESSES
    assert "20 are allowed" in result.detail
    assert marked.alive() == []


@pytest.mark.parametrize("line", ["exec head -c 5M /dev/zero > big", "head -c 5M /dev/zero > big"])
def test_largest_file(sh, free, tmp_path, line):
    result = run(sh(line), limits=Limits(file_size=1 << 20), **free)
    assert result.end is End.FILE_SIZE
    assert "1 MiB" in result.detail
    assert (tmp_path / "big").stat().st_size <= 1 << 20


def test_no_core_dumps(sh, free):
    assert run(sh("ulimit -c"), **free).text == "0\n"


def test_none_means_none(sh, free):
    limits = Limits(seconds=None, memory=None, processes=None, file_size=None)
    assert run(sh("echo hello"), limits=limits, **free).text == "hello\n"


@pytest.mark.parametrize("program", ["node", "java"])
def test_runtimes_that_reserve_much(command, free, program):
    if not shutil.which(program):
        pytest.skip(f"no {program}")
    arguments = {"node": ["-e", "console.log(1)"], "java": ["-version"]}[program]
    assert run(command(program, *arguments), **free).code == 0
