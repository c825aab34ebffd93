import pytest

from stream import Closed, LineStream


def test_read_and_write():
    stream = LineStream(["a"])
    stream.write("b\n")
    assert [stream.read(), stream.read(), stream.read()] == ["a", "b", None]


def test_rewind():
    stream = LineStream("ab")
    stream.read()
    stream.rewind()
    assert stream.read() == "a"


def test_read_after_close():
    stream = LineStream("a")
    stream.close()
    with pytest.raises(Closed, match="cannot read a closed stream"):
        stream.read()


def test_write_after_close():
    stream = LineStream("a")
    stream.close()
    with pytest.raises(Closed, match="cannot write a closed stream"):
        stream.write("b")
    assert len(stream) == 1


def test_rewind_after_close():
    stream = LineStream()
    stream.close()
    with pytest.raises(Closed):
        stream.rewind()
