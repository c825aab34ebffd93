"""Foreign text that would steer a terminal, through every place of the real screen: rows and columns stay whole, and
nothing that a terminal obeys is among what is drawn."""

from __future__ import annotations

import json
import unicodedata
from pathlib import Path

import pytest
from rich.cells import cell_len

from deskagent.agent.permissions import Mode
from deskagent.providers.base import ProviderError, TextDelta, Trouble
from tests.ui.conftest import Play, calls, says, thinks

SEQUENCES = {
    "osc52": "\x1b]52;c;ZXZpbA==\x07",
    "osc8": "\x1b]8;;http://evil.example/\x1b\\click\x1b]8;;\x1b\\",
    "title": "\x1b]0;owned\x07",
    "unterminated osc": "\x1b]0;owned",
    "clear": "\x1b[2J\x1b[3J\x1b[H",
    "cursor": "\x1b[999;999H\x1b[1;1H\x1b[10A",
    "modes": "\x1b[?1049l\x1b[?25h\x1b[?1003l\x1b[?2004l\x1bc",
    "scroll region": "\x1b[5;6r\x1b[L\x1b[M",
    "c1": "\x9b2J\x9d0;owned\x07\x90q\x9c\x9f\x9e",
    "dcs": "\x1bP$q\x1b\\\x1b_apc\x1b\\\x1b^pm\x1b\\",
    "unterminated dcs": "\x1bPq#0;2;0;0;0",
    "queries": "\x1b[c\x1b[6n\x1b[>q\x05",
    "shifts": "\x0e\x0f\x1b(0\x1b)0lqqk",
    "carriage": "over\rwritten\b\b\b\b\b\x0b\x0c\x07\x00\x7f",
    "bidi": "\u202egnp.exe\u202c \u2066\u2067\u2069\u200f\u061c",
    "rtl": "שלום עולם مرحبا",
    "invisible": "a\u200b\u200c\u200d\u2060\ufeff\u00ad\u3164\u2800b\U000e0041",
    "lines": "one\u2028two\u2029three\x85four",
    "combining": "e" + "\u0301" * 300 + "x",
    "wide": "宽" * 90,
    "emoji": "👩‍👩‍👧‍👦🏳️‍🌈👍🏽1️⃣🇩🇪" * 8,
    "markup": "[red]red[/red] [@click=app.exit]x[/] [bold",
    "tabs": "\t\t\tafter\ttabs",
    "long": "x" * 3000,
    "escapes": "\x1b" * 2000,
}
ALL = "\n".join(f"{name}: {text} end" for name, text in SEQUENCES.items())
LINE = " ".join(SEQUENCES.values())


def whole(on: Play, size: tuple[int, int]) -> None:
    """What is on the screen has its rows and columns, and draws no more than letters."""
    columns, rows = size
    strips = on.app.screen._compositor.render_strips()
    assert len(strips) == rows
    for row, strip in enumerate(strips):
        text = "".join(segment.text for segment in strip)
        assert cell_len(text) == columns, f"row {row}: {text!r}"
        bad = [c for c in text if unicodedata.category(c) in ("Cc", "Cf", "Cs", "Zl", "Zp")]
        assert not bad, f"row {row}: {bad} in {text!r}"
        for segment in strip:
            assert segment.control is None or not segment.control
            assert segment.style is None or segment.style.link is None


async def every_page(on: Play, size: tuple[int, int]) -> None:
    """Folded and unfolded, from the end to the start."""
    for _ in range(2):
        await on.press("ctrl+end")
        await on.idle()
        for _ in range(200):
            whole(on, size)
            if on.app.transcript.scroll_y <= 0:
                break
            await on.press("pageup")
            await on.pilot.pause()
        await on.press("ctrl+o")
        await on.idle()
        whole(on, size)


SIZES = [(80, 24), (160, 50)]


@pytest.mark.parametrize("size", SIZES)
def test_what_a_model_says_and_thinks(play, size) -> None:
    async def steps(on: Play) -> None:
        await on.send("go")
        await on.until(lambda: len(on.items()) >= 3)
        await on.idle()
        await every_page(on, size)

    streamed = [
        TextDelta(1, ALL[at : at + 97]) for at in range(0, len(ALL), 97)
    ]  # in the midst of sequences too
    fenced = (
        f"\n\n```python\n{ALL}\n```\n\n| a | b |\n|---|---|\n| {LINE} | {LINE} |\n\n# {LINE}\n\n> {LINE}\n\n"
    )
    play([[thinks(ALL), *streamed, *says(fenced)]], steps, size=size)


@pytest.mark.parametrize("size", SIZES)
def test_what_tools_are_called_and_given_and_what_they_print(play, project: Path, size) -> None:
    (project / "evil.txt").write_text(ALL, "utf-8", newline="")
    name = "na\x1b[2Jme\u202e宽\r\t.txt"
    (project / name).write_text("x\n")
    wanted = [
        ("c1", "read", '{"path": "evil.txt"}'),
        ("c2", "glob", '{"pattern": "*.txt"}'),
        ("c3", f"read{LINE}", json.dumps({"path": LINE})),
        ("c4", "terminal", json.dumps({"command": "cat evil.txt; printf '\\033[2J\\033]0;t\\007'"})),
        ("c5", "read", json.dumps({"path": name})),
        ("c6", "write", json.dumps({"path": "new\x1b[31m\u202e.py", "content": ALL})),
        ("c7", "todo", json.dumps({"todos": [{"text": LINE, "state": "doing"}]})),
    ]

    async def steps(on: Play) -> None:
        await on.send("go")
        await on.shows("Done.")
        await on.idle()
        await every_page(on, size)
        for pane in ("changes", "plan", "meter"):
            on.app.side.show(pane)
            await on.idle()
            await on.pilot.pause(0.3)
            whole(on, size)

    play([calls(*wanted), says("Done.")], steps, size=size, mode=Mode.FULL)


@pytest.mark.parametrize("size", SIZES)
def test_questions_names_and_what_the_person_pastes(play, project: Path, size) -> None:
    (project / "na\x1b[2Jme\u202e宽\r.txt").write_text("x\n")
    command = f"printf x # {LINE}".replace("\0", "")  # which no command may hold

    async def steps(on: Play) -> None:
        on.app.facts.model = LINE[:300]
        on.app.status.status.branch = LINE[:300]
        on.app.note("error", ALL)
        await on.idle()
        whole(on, size)
        await on.type("@na")
        await on.until(lambda: on.app.completing.active, "the file")
        whole(on, size)
        on.app.composer.put("".join(c for c in LINE if unicodedata.category(c) != "Cf"))
        await on.pilot.pause()
        whole(on, size)
        await on.press("enter")
        await on.until(lambda: on.app.questions.open, "the question")
        await on.pilot.pause()
        whole(on, size)
        await on.press("pagedown")
        await on.pilot.pause()
        whole(on, size)
        await on.press("n")
        await on.idle()
        await on.press("ctrl+g")
        await on.until(lambda: len(on.app.screen_stack) > 1, "the sessions")
        await on.pilot.pause(0.3)
        whole(on, size)
        await on.press("escape")
        await every_page(on, size)

    play([calls(("c1", "terminal", json.dumps({"command": command}))), says("Then not.")], steps, size=size)


def test_errors_of_a_server(play) -> None:
    async def steps(on: Play) -> None:
        await on.send("go")
        await on.until(lambda: len(on.items()) >= 2)
        await on.idle()
        await every_page(on, (80, 24))

    play([[ProviderError(Trouble.BAD_REQUEST, ALL)]], steps, size=(80, 24))
