"""How a picture is shown is told from the environment; the terminal is never asked, its keys stay the app's."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pexpect
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.ui.desktop import png
from ui.pictures.view import _in_whole
from ui.pictures.ways import Way, way


@pytest.mark.parametrize(
    ("env", "cell", "shown"),
    [
        ({}, (10, 20), Way.HALVES),
        ({"TERM": "xterm-256color"}, (10, 20), Way.HALVES),
        ({"TERM": "xterm-kitty"}, None, Way.KITTY),
        ({"TERM": "xterm-256color", "KITTY_WINDOW_ID": "1"}, None, Way.KITTY),
        ({"TERM": "xterm-ghostty"}, None, Way.KITTY),
        ({"TERM": "tmux-256color", "KITTY_WINDOW_ID": "1"}, (10, 20), Way.HALVES),
        ({"TERM": "foot"}, (10, 20), Way.SIXEL),
        ({"TERM": "foot"}, None, Way.HALVES),
        ({"TERM_PROGRAM": "WezTerm"}, (10, 20), Way.SIXEL),
        ({"KONSOLE_VERSION": "220401"}, (10, 20), Way.SIXEL),
        ({"KONSOLE_VERSION": "200000"}, (10, 20), Way.HALVES),
        ({"TERM": "foot", "TEXTUAL_DRIVER": "x"}, (10, 20), Way.HALVES),
        ({"TERM": "xterm", "DESKAGENT_PICTURES": "sixel"}, None, Way.SIXEL),
        ({"DESKAGENT_PICTURES": "nonsense"}, None, Way.HALVES),
    ],
)
def test_the_way(env, cell, shown: Way) -> None:
    assert way(env, cell) is shown


APP = """
import sys
from textual.app import App
from ui.pictures.view import PictureView

class Shows(App):
    def compose(self):
        yield PictureView()
    async def on_mount(self):
        self.call_after_refresh(self.query_one(PictureView).show, open(sys.argv[1], 'rb').read())
    def on_key(self, event):
        self.exit(event.key)

print('got', Shows().run())
"""


@pytest.mark.parametrize(("shown", "sign"), [("kitty", "\x1b_Ga=p"), ("sixel", "\x1bP"), ("halves", "▀")])
def test_the_terminal_gets_it_and_keys_stay_the_apps(tmp_path: Path, shown: str, sign: str) -> None:
    """In a terminal that answers nothing: what is asked would wait, or take the key."""
    (tmp_path / "shot.png").write_bytes(png())
    env = {name: value for name, value in os.environ.items() if name not in ("NO_COLOR", "TMUX")}
    env |= {"TERM": "xterm-256color", "COLORTERM": "truecolor", "DESKAGENT_PICTURES": shown}
    root = str(Path(__file__).parents[3])
    child = pexpect.spawn(
        sys.executable, ["-c", APP, str(tmp_path / "shot.png")], env=env, cwd=root, dimensions=(24, 80),
        encoding="utf-8", timeout=60,
    )  # fmt: skip
    child.expect_exact(sign)
    child.send("q")
    child.expect_exact("got q")
    child.expect(pexpect.EOF)


@given(st.data())
def test_what_is_picked_covers_it_and_stays_within_the_part(data) -> None:
    left, top = data.draw(st.integers(0, 50)), data.draw(st.integers(0, 50))
    width, height = data.draw(st.integers(1, 5000)), data.draw(st.integers(1, 5000))
    drawn = data.draw(st.integers(1, 1568)), data.draw(st.integers(1, 1568))
    x0, y0 = data.draw(st.integers(0, drawn[0] - 1)), data.draw(st.integers(0, drawn[1] - 1))
    x1, y1 = data.draw(st.integers(x0 + 1, drawn[0])), data.draw(st.integers(y0 + 1, drawn[1]))
    found = _in_whole((x0, y0, x1, y1), (left, top, width, height), drawn)
    assert left <= found[0] < found[2] <= left + width and top <= found[1] < found[3] <= top + height
    assert (found[0] - left) * drawn[0] <= x0 * width and (found[2] - left) * drawn[0] >= x1 * width
    assert (found[1] - top) * drawn[1] <= y0 * height and (found[3] - top) * drawn[1] >= y1 * height
