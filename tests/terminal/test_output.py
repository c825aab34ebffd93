"""Head, tail, file and count agree with what was printed."""

import os

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deskagent.terminal.output import EDGE, Output

COUNTED = b"".join(n.to_bytes(4, "big") for n in range(EDGE * 6))


@settings(max_examples=60, deadline=None)
@given(st.lists(st.integers(0, EDGE * 2), max_size=12))
def test_edges(sizes):
    output = Output()
    whole = COUNTED[: sum(sizes)]
    start = 0
    for size in sizes:
        output.add(whole[start : start + size])
        start += size
    assert output.total == len(whole)
    assert output.head == whole[:EDGE]
    assert output.tail == whole[EDGE:][-EDGE:]
    for count in (1, 100, EDGE):
        assert output.last(count) == whole[-count:]


@pytest.mark.parametrize("limit", [0, 1, 10, 11, 1000])
def test_file(tmp_path, limit):
    output = Output(tmp_path / "out", limit)
    for _ in range(4):
        output.add(b"0123456789")
    output.close()
    output.add(b"later")
    assert (tmp_path / "out").read_bytes() == (b"0123456789" * 4)[:limit]
    assert output.total == 45
    assert output.problem == ""


def test_the_mode_does_not_depend_on_the_mask(tmp_path):
    before = os.umask(0)
    try:
        Output(tmp_path / "out", 10).close()
    finally:
        os.umask(before)
    assert (tmp_path / "out").stat().st_mode & 0o777 == 0o600
