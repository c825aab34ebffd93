import codecs
import os
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deskagent.repair.source import MAX_BYTES, SourceError, SourceFile
from deskagent.repair.types import Edit

LINES = st.lists(st.tuples(st.text(st.characters(codec="utf-8", exclude_characters="\r\n\0"), max_size=12),
                           st.sampled_from(["\n", "\r\n", "\r", "\n\n", "\t\n"])), max_size=8)  # fmt: skip


def python(raw: bytes) -> SourceFile:
    return SourceFile.from_bytes("x.py", raw)


@given(
    LINES,
    st.text(max_size=5).filter(lambda t: "\0" not in t),
    st.sampled_from([b"", codecs.BOM_UTF8]),
    st.data(),
)
def test_bytes_outside_an_edit_stay(lines, tail, bom, data):
    text = "".join(line + end for line, end in lines) + tail.replace("\ufeff", "")
    text = text.lstrip("\ufeff").replace("coding", "")
    source = python(bom + text.encode())
    assert source.apply([]) == source.raw
    size = len(source.text)
    start = data.draw(st.integers(0, size))
    end = data.draw(st.integers(start, size))
    offsets = [len(source.text[:at].encode()) for at in (start, end)]
    out = source.apply([Edit("x.py", offsets[0], offsets[1], "NEW")])
    head, rest = source.raw[: len(bom) + offsets[0]], source.raw[len(bom) + offsets[1] :]
    assert out == head + b"NEW" + rest
    assert SourceFile.from_bytes("x.py", out).utf8 == source.edited([Edit("x.py", *offsets, "NEW")])


@given(st.lists(st.integers(0, 60), min_size=2, max_size=8, unique=True))
def test_several_edits_in_any_order(points):
    source = python(b"0123456789" * 6)
    points = sorted(points)
    edits = [Edit("x.py", a, b, f"<{a}>") for a, b in zip(points[::2], points[1::2], strict=False)]
    expected, at = "", 0
    for edit in edits:
        expected += source.text[at : edit.start] + edit.new
        at = edit.end
    assert source.apply(reversed(edits)) == (expected + source.text[at:]).encode()


@pytest.mark.parametrize(
    ("rel", "raw", "encoding"),
    [
        ("a.py", "# -*- coding: latin-1 -*-\nx = 'é'\n".encode("latin-1"), "iso-8859-1"),
        ("a.py", "# vim: set fileencoding=cp1252 :\nx = '€'\r\n".encode("cp1252"), "cp1252"),
        ("a.py", codecs.BOM_UTF8 + b"x = 1", "utf-8"),
        ("a.py", "x = 'ü'\n".encode(), "utf-8"),
        ("a.txt", codecs.BOM_UTF16_LE + "hé\r\n".encode("utf-16-le"), "utf-16-le"),
        ("a.txt", codecs.BOM_UTF16_BE + "hé\n".encode("utf-16-be"), "utf-16-be"),
        ("a.txt", codecs.BOM_UTF32_LE + "hé\n".encode("utf-32-le"), "utf-32-le"),
        ("a.txt", "price: 5 €\n".encode("cp1252"), "cp1252"),
        ("a.txt", b"\x81\x8d\n", "latin-1"),
    ],
)
def test_encodings(rel, raw, encoding):
    source = SourceFile.from_bytes(rel, raw)
    assert source.encoding == encoding
    end = len(source.utf8)
    out = source.apply([Edit(rel, 0, 0, "ab"), Edit(rel, end, end, "z\n")])
    body = raw[len(source.bom) :]
    line_end = "\r\n" if b"\r" in raw else "\n"
    assert out == source.bom + "ab".encode(encoding) + body + ("z" + line_end).encode(encoding)


@pytest.mark.parametrize(
    ("raw", "at", "expected"),
    [
        (b"a\r\nb\r\n", 3, b"a\r\nX\r\nb\r\n"),  # the line's own
        (b"a\nb\r\nc\n", 2, b"a\nX\r\nb\r\nc\n"),  # mixed: the line's own
        (b"a\r\nb", 3, b"a\r\nX\r\nb"),  # last line without end: the one before
        (b"ab", 0, b"X\nab"),
        (b"a\rb\r", 2, b"a\rX\rb\r"),
    ],
)
def test_inserted_line_ends_follow_the_neighbour(raw, at, expected):
    assert python(raw).apply([Edit("x.py", at, at, "X\n")]) == expected


@pytest.mark.parametrize(
    "raw",
    [b"\xff\xfe\x00x = 1", b"x = '\xe9'\n", b"# coding: klingon\n", b"x\0y", b"# coding: utf-8\n\xff"],
)
def test_what_python_cannot_read_is_refused(raw):
    with pytest.raises(SourceError, match=r"x\.py"):
        python(raw)


def test_an_encoding_that_cannot_hold_the_edit_or_be_spliced():
    latin = python(b"# coding: latin-1\nx = 1\n")
    with pytest.raises(SourceError, match="can't hold"):
        latin.apply([Edit("x.py", 0, 0, "€")])
    raw = "# coding: iso-2022-jp\nx = '日本'\n".encode("iso-2022-jp")
    shifting = python(raw)
    inside = shifting.utf8.index("本".encode())
    try:
        out = shifting.apply([Edit("x.py", inside, inside, "a")])
    except SourceError as error:
        assert "can't be edited" in str(error)
    else:
        assert out.decode("iso-2022-jp") == shifting.text.replace("本", "a本")


@pytest.mark.parametrize(
    "edits",
    [
        [Edit("x.py", 0, 2, ""), Edit("x.py", 1, 3, "")],
        [Edit("x.py", 5, 4, "")],
        [Edit("x.py", 0, 99, "")],
        [Edit("y.py", 0, 1, "")],
        [Edit("x.py", 5, 6, "")],  # half of é
    ],
)
def test_bad_edits(edits):
    with pytest.raises(SourceError):
        python("x = 'é'\n".encode()).apply(edits)
    assert python("x = 'é'\n".encode()).utf8[5:7] == "é".encode()


def test_reading_stays_inside_and_takes_plain_files_alone(tmp_path):
    project = tmp_path / "p"
    project.mkdir()
    (project / "ok.py").write_bytes(b"x = 1\r\n")
    assert SourceFile.read(project, "ok.py").newline == "\r\n"
    (tmp_path / "secret.py").write_text("x")
    (project / "link.py").symlink_to(tmp_path / "secret.py")
    (project / "loop.py").symlink_to("loop.py")
    os.mkfifo(project / "pipe.py")
    (project / "folder.py").mkdir()
    with (project / "huge.py").open("wb") as huge:
        huge.truncate(MAX_BYTES + 1)
    for rel in (
        "../secret.py",
        "link.py",
        "loop.py",
        "pipe.py",
        "folder.py",
        "huge.py",
        "absent.py",
        "a\0b.py",
    ):
        with pytest.raises(SourceError):
            SourceFile.read(project, rel)


@pytest.mark.skipif(sys.platform != "linux", reason="device files")
def test_a_device_behind_a_link_is_refused(tmp_path):
    (tmp_path / "zero.py").symlink_to("/dev/zero")
    with pytest.raises(SourceError):
        SourceFile.read(tmp_path, "zero.py")
