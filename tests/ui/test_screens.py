"""Whole screens as text, in three sizes, compared with those that were looked at and found good.

After a change that is meant, look at them, and keep them by running this with DESKAGENT_KEEP_SCREENS=1.
"""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from deskagent.agent.permissions import Mode
from tests.ui.conftest import Play, calls, says, thinks
from ui.theme import THEMES

KEPT = Path(__file__).with_name("screens")
KEEP = bool(os.environ.get("DESKAGENT_KEEP_SCREENS"))
SIZES = [(80, 24), (120, 36), (250, 80)]
ANSWER = """The sum was a **difference**.

- read `calc.py`
- see [the docs](https://example.org)

```python
a + b
```
"""
_VARIES = [
    (re.compile(r"\d+ tok/s"), "0 tok/s"),
    (re.compile(r"[▁-█▔▕▎]"), " "),
    (re.compile(r"( ·)? +\d+ s\b"), ""),
    (re.compile(r" +(?=F1 keys)"), "   "),
]


def normal(screen: str) -> str:
    """Without what differs from run to run: speeds, seconds, the scroll bar's thumb."""
    for varies, instead in _VARIES:
        screen = varies.sub(instead, screen)
    return "\n".join(line.rstrip() for line in screen.split("\n")) + "\n"


def same(on: Play, name: str) -> None:
    width, height = on.app.size
    file = KEPT / f"{name}-{width}x{height}.txt"
    shown = normal(on.screen())
    if KEEP:
        KEPT.mkdir(exist_ok=True)
        file.write_text(shown, "utf-8")
    assert shown == file.read_text("utf-8")


@pytest.mark.parametrize("size", SIZES, ids=lambda size: f"{size[0]}x{size[1]}")
def test_screens_are_as_they_were_found_good(play, size: tuple[int, int]) -> None:
    async def steps(on: Play) -> None:
        await on.send("the sum is wrong @calc.py")
        await on.shows("Which way?")
        await on.pilot.pause()
        same(on, "question")
        await on.press("2")
        await on.shows("The sum was")
        await on.idle()
        for theme in THEMES:
            on.app.theme = theme.name
            await on.pilot.pause()
            same(on, "conversation")
        await on.press("f1")
        await on.shows("Shift+Tab")
        same(on, "keys")

    read = calls(("c1", "read", '{"path": "calc.py"}'))
    edit = calls(("c2", "edit", '{"path": "calc.py", "old": "a - b", "new": "a + b"}'))
    ask = calls(("c3", "ask", '{"question": "Which way?", "choices": ["turn the sign", "swap the names"]}'))
    play(
        [[thinks("Let me look."), *read], ask, edit, [thinks("Done."), *says(ANSWER)]],
        steps,
        size=size,
        mode=Mode.FULL,
    )


def test_without_colours_the_words_are_the_same(play, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")

    async def steps(on: Play) -> None:
        assert on.app.no_color
        await on.press("f1")
        await on.shows("Shift+Tab")
        colours = set(re.findall(r"fill: (#[0-9a-f]{6})", on.app.export_screenshot()))
        for colour in colours - {"#ff5f57", "#febc2e", "#28c840", "#c5c8c6"}:  # of the exported window itself
            assert len({colour[1:3], colour[3:5], colour[5:7]}) == 1, colour

    play([], steps, mode=Mode.FULL)
