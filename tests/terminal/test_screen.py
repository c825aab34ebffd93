"""What a screen shows, whatever is printed."""

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deskagent.terminal import styled
from deskagent.terminal.screen import BACKLOG, SCROLLBACK, Painter, Screen


def shown(*pieces, rows=4, columns=20):
    screen = Screen(rows, columns)
    for piece in pieces:
        screen.feed(piece)
    return screen.snapshot()


def test_text_cursor_and_title():
    snapshot = shown(b"\x1b]0;a title\x07one\r\n\x1b[31mtwo\x1b[m", b"\x1b[?25l")
    assert snapshot.lines == ("one".ljust(20), "two".ljust(20), " " * 20, " " * 20)
    assert (snapshot.text, snapshot.cursor, snapshot.title) == ("one\ntwo", (1, 3), "a title")
    assert not snapshot.cursor_visible


@pytest.mark.parametrize("mode", [b"1049", b"1047", b"47"])
def test_the_alternate_screen_gives_back_what_was_there(mode):
    screen = Screen(4, 20)
    screen.feed(b"before\r\n$ ")
    screen.feed(b"\x1b[?" + mode + b"h\x1b[H\x1b[2Jeditor")
    assert (screen.snapshot().full_screen, screen.snapshot().text) == (True, "editor")
    screen.feed(b"\x1b[?" + mode + b"l")
    assert (screen.snapshot().full_screen, screen.snapshot().text) == (False, "before\n$")
    assert screen.snapshot().cursor == (1, 2)


@pytest.mark.parametrize(
    "noise",
    [
        b"\x1b[>4;2m",  # xterm's key modes
        b"\x1b[?4m",
        b"\x1b[>1u",  # kitty's keyboard
        b"\x1b[<u",
        b"\x1b[=1;1u",
        b"\x1b[!p",  # soft reset
        b"\x1b[2 q",  # cursor shape
        b"\x1bP+q544e\x1b\\",  # a device control string
        b"\x1b_Ga=q;AAAA\x1b\\",  # kitty's images
        b"\x1b]8;;http://host/\x1b\\",  # links
        b"\x1b]52;c;AAAA\x07",  # clipboard
        b"\x1b*B",
        b"\x1b F",
        b"\x1b[1;2;3;4;5;6;7A",
        b"\x1b[999999999999999999999C\x1b[1G",
        b"\x1b[?3h",
        "\u200b\ufe0f\u200d".encode(),
        b"\x00\x01\x7f",
    ],
)
def test_what_a_terminal_does_not_show(noise):
    for cut in range(len(noise) + 1):
        assert shown(noise[:cut], noise[cut:] + b"text").lines[0] == "text".ljust(20), cut


def test_wide_and_combining_characters():
    snapshot = shown("漢字 é e\u0301 ✔️ x".encode())
    assert snapshot.text == "漢字 é é ✔ x"


def test_characters_cut_in_two():
    assert shown(b"\xe6\xbc", b"\xa2").text == "漢"
    assert shown(b"\xff\xfe ok").text.endswith(" ok")


@pytest.mark.parametrize("opener", [b"\x1b]0;", b"\x1bP", b"\x1b_", b"\x1b["])
def test_strings_without_end(opener):
    screen = Screen(4, 20)
    for piece in [opener, *[b"1" * 10_000] * 5]:
        screen.feed(piece)
    screen.feed(b"\x18\x1b\\\x07\x1b[H\x1b[2Jfine")
    assert screen.snapshot().text == "fine"


SEQUENCES = st.one_of(
    st.binary(max_size=20),
    st.text(max_size=10).map(lambda text: text.encode("utf-8", "replace")),
    st.sampled_from(
        [b"\x1b[?1049h", b"\x1b[?1049l", b"\x1bc", b"\r\n", b"\x1b[2J", b"\x1b[?6h", b"\x1b(0", b"\t"]
    ),
    st.builds(
        lambda private, numbers, final: b"\x1b[" + private + ";".join(map(str, numbers)).encode() + final,
        st.sampled_from([b"", b"?", b">", b"="]),
        st.lists(st.integers(0, 100_000), max_size=4),
        st.integers(0x20, 0x7E).map(lambda code: bytes([code])),
    ),
)


@settings(max_examples=100, deadline=None)
@given(st.lists(SEQUENCES, max_size=30), st.integers(1, 10), st.integers(1, 40))
def test_anything_may_be_printed(pieces, rows, columns):
    replies = []
    screen = Screen(rows, columns, replies.append)
    for number, piece in enumerate(pieces):
        screen.feed(piece)
        if number == 5:
            rows, columns = columns, rows
            screen.resize(rows, columns)
    snapshot = screen.snapshot()
    assert len(snapshot.lines) == rows
    assert 0 <= snapshot.cursor[0] < rows
    assert 0 <= snapshot.cursor[1] < columns
    assert all("\x1b" not in line and "\n" not in line for line in snapshot.lines)
    assert all(isinstance(reply, bytes) for reply in replies)


@settings(max_examples=50, deadline=None)
@given(
    st.lists(
        st.sampled_from(
            [b"ab", b"\x1b[31m", b"\x1b[2;3H", b"\xc3\xa9", b"\r\n", b"\x1b]0;t\x07", b"\x1b[>1u"]
        )
    )
)
def test_it_does_not_matter_where_output_is_cut(pieces):
    whole = b"".join(pieces)
    assert shown(whole) == shown(*(whole[i : i + 1] for i in range(len(whole))))


class TestPainter:
    @pytest.fixture
    def painter(self):
        made = Painter((4, 20))
        yield made
        made.close()

    def test_it_paints_and_tells(self):
        seen = []
        painter = Painter((4, 20), on_change=seen.append)
        painter.offer(b"hello")
        assert painter.settle(60).text == "hello"
        assert seen[-1] == painter.snapshot
        painter.close()
        painter.close()
        assert painter.snapshot.text == "hello"

    def test_a_flood_is_skipped_but_modes_are_kept(self, painter):
        began = time.monotonic()
        painter.offer(b"\x1b[?1049h")
        for _ in range(200):
            painter.offer(b"x" * BACKLOG + b"\r\n")
        painter.offer(b"\x1b[H\x1b[2Jlast")
        assert time.monotonic() - began < 60
        snapshot = painter.settle(60)
        assert (snapshot.text, snapshot.full_screen) == ("last", True)

    def test_resizing(self, painter):
        painter.offer(b"hello")
        painter.resize(6, 30)
        assert [len(line) for line in painter.settle(60).lines] == [30] * 6

    def test_a_broken_listener_does_not_stop_it(self, caplog):
        def broken(_):
            raise RuntimeError("listener")

        painter = Painter((4, 20), on_change=broken)
        painter.offer(b"a")
        painter.settle(60)
        painter.offer(b"b")
        assert painter.settle(60).text == "ab"
        assert "listener" in caplog.text
        painter.close()


def test_a_smaller_screen_keeps_what_stands_above_the_cursor():
    screen = Screen(6, 20)
    screen.feed(b"a\r\nb\r\nc")
    screen.resize(4, 20)
    assert (screen.snapshot().text, screen.snapshot().cursor) == ("a\nb\nc", (2, 1))
    screen.resize(2, 10)
    small = screen.snapshot()
    assert (small.text, small.cursor, [styled.text(row) for row in small.above]) == ("b\nc", (1, 1), ["a"])
    screen.feed(b"\r\nd")
    assert screen.snapshot().text == "c\nd"
    screen.resize(5, 20)
    screen.feed(b"\r\ne")
    assert screen.snapshot().text == "c\nd\ne"


def test_lines_have_their_colours_and_go_above():
    screen = Screen(3, 20)
    screen.feed(b"\x1b[1;31mred\x1b[0m plain \x1b[48;5;200m\xe4\xbd\xa0\x1b[m\r\n" + b"a\r\nb\r\nc")
    shown = screen.snapshot()
    assert [styled.text(row) for row in shown.rows] == ["a", "b", "c"]
    (gone,) = shown.above
    assert [(data, look.fg, look.bg, look.bold) for data, look in gone] == [
        ("red", "red", "default", True),
        (" plain ", "default", "default", False),
        ("\u4f60", "default", "ff00d7", False),
    ]
    screen.feed(b"\x1b[?1049h" + b"x\r\n" * 9 + b"\x1b[?1h\x1b[?2004h")
    inside = screen.snapshot()
    assert inside.above == shown.above and inside.cursor_keys and inside.paste
    screen.feed(b"\x1b[?1049l" + b"\n" * (SCROLLBACK + 9))
    assert len(screen.snapshot().above) == SCROLLBACK
