"""Makes the README's picture: runs `make run`'s example in a terminal of its own and draws what its screen showed.

    python assets/picture.py assets/fix.svg
"""

from __future__ import annotations

import io
import os
import sys
import time
from pathlib import Path

import pexpect
import pyte
from rich.console import Console
from rich.style import Style
from rich.text import Text

ROWS, COLUMNS = 30, 110
EXAMPLE = Path(__file__).parent / "example" / "run.py"
NAMED = {"brown": "yellow", "default": None}


def style(cell: pyte.screens.Char) -> Style:
    """A terminal cell's look."""

    def colour(name: str) -> str | None:
        name = NAMED.get(name, name)
        if name and len(name) == 6 and all(c in "0123456789abcdefABCDEF" for c in name):
            return f"#{name}"
        return name.replace("bright", "bright_") if name else None

    return Style(color=colour(cell.fg), bgcolor=colour(cell.bg), bold=cell.bold, italic=cell.italics)


def lines(screen: pyte.Screen) -> list[Text]:
    """The screen's rows, trailing blanks left out."""
    shown = []
    for row in range(screen.lines):
        text = Text()
        for column in range(screen.columns):
            cell = screen.buffer[row][column]
            text.append(cell.data, style(cell))
        text.rstrip()
        shown.append(text)
    while shown and not shown[-1].plain:
        shown.pop()
    return shown


def main(target: str) -> None:
    environment = os.environ | {"TERM": "xterm-256color", "COLUMNS": str(COLUMNS), "LINES": str(ROWS)}
    child = pexpect.spawn(sys.executable, [str(EXAMPLE)], env=environment, dimensions=(ROWS, COLUMNS), timeout=None)
    screen, live = pyte.Screen(COLUMNS, 200), []
    stream = pyte.ByteStream(screen)
    deadline = time.monotonic() + 300
    while time.monotonic() < deadline:
        try:
            stream.feed(child.read_nonblocking(65536, timeout=1))
        except pexpect.TIMEOUT:
            continue
        except pexpect.EOF:
            break
        shown = lines(screen)
        if any("trying edits" in line.plain for line in shown):
            live = shown  # the last one that was drawn
    console = Console(record=True, width=COLUMNS, file=io.StringIO())
    answer = [line for line in lines(screen) if "deskagent-example-" not in line.plain]
    for line in live:
        if "deskagent-example-" not in line.plain:
            console.print(line, no_wrap=True)
    console.rule(style="dim")
    for line in answer[answer.index(next(a for a in answer if "tests pass" in a.plain)) :]:
        console.print(line, no_wrap=True)
    console.save_svg(target, title="deskagent fix")


if __name__ == "__main__":
    main(sys.argv[1])
