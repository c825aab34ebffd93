import pytest

from frames import FrameError, pack, unpack


def test_binary():
    assert pack(b"ab") == b"\x00\x02\x02ab"


def test_text():
    assert pack("ab") == b"\x00\x02\x01ab"


def test_text_with_accents():
    assert unpack(pack("é")) == ("é", b"")


def test_length_counts_bytes():
    assert pack("é")[:2] == b"\x00\x02"


def test_unpack():
    assert unpack(b"\x00\x01\x01ab") == ("a", b"b")


def test_incomplete():
    assert unpack(b"\x00") == (None, b"\x00")
    assert unpack(b"\x00\x05\x01ab") == (None, b"\x00\x05\x01ab")


def test_unknown_kind():
    with pytest.raises(FrameError, match="unknown kind 9"):
        unpack(b"\x00\x00\x09")


def test_too_long():
    with pytest.raises(FrameError):
        pack(b"x" * 70000)
