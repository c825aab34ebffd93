"""Records the README's session: the real app on a small project, with answers that are written here, as an SVG that
moves.

    python assets/app_session.py assets/app-session.svg       # from the repository's root
"""

from __future__ import annotations

import asyncio
import os
import re
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, os.getcwd())

from assets.app_pictures import playing, shop
from tests.ui.conftest import Play
from ui.app import DeskApp

LINE = "both tests of @test_prices.py fail, mend prices.py"
EVERY = 0.25
"""Seconds between two looks while the model works."""
SCREEN = '<g transform="translate(9, 41)" clip-path="url(#terminal-clip-terminal)">'
"""Behind it come the backgrounds, then the texts."""
CLASS = re.compile(r"\.terminal-(r\d+) \{ (.*?) \}")
PIECE = re.compile(r"<rect [^>]*shape-rendering[^>]*/>|<text [^>]*>[^<]*</text>")


class Film:
    """The frames that differ, and for how many seconds each is shown."""

    def __init__(self, app: DeskApp) -> None:
        self._app = app
        self.frames: list[str] = []
        self.times: list[float] = []

    def look(self, seconds: float) -> None:
        shown = re.sub(r"terminal-\d+", "terminal", self._app.export_screenshot(title="deskagent"))
        if self.frames and self.frames[-1] == shown:
            self.times[-1] += seconds
        else:
            self.frames.append(shown)
            self.times.append(seconds)

    async def until(self, on: Play, words: str, most: float) -> None:
        """Looks until the words are on the screen; the last look counts for `most` seconds."""
        while words not in on.screen():
            self.look(EVERY)
            await asyncio.sleep(EVERY)
            await on.pilot.pause()
        await asyncio.sleep(EVERY)
        await on.pilot.pause()
        self.look(most)


def moving(frames: list[str], times: list[float]) -> str:
    """One SVG that shows them in turn. A piece of the screen stands in it once, with the times at which it is seen."""
    rules: dict[str, str] = {}
    seen: dict[str, list[int]] = {}
    for number, frame in enumerate(frames):
        head, _, body = frame.partition(SCREEN)
        names = {name: rules.setdefault(rule, f"s{len(rules)}") for name, rule in CLASS.findall(head)}
        for piece in PIECE.findall(body):
            named = re.sub(r'class="terminal-(r\d+)"', lambda found, names=names: f'class="{names[found[1]]}"', piece)
            seen.setdefault(named, []).append(number)
    total, starts = sum(times), [sum(times[:n]) for n in range(len(times))]
    groups: dict[tuple[int, ...], list[str]] = {}
    for piece, numbers in sorted(seen.items(), key=lambda each: each[0].startswith("<text")):
        groups.setdefault((int(piece.startswith("<text")), *numbers), []).append(piece)
    style = [f".{name} {{ {rule} }}" for rule, name in rules.items()]
    drawn: list[str] = []
    for at, ((_, *numbers), pieces) in enumerate(sorted(groups.items())):
        if len(numbers) == len(frames):
            drawn += pieces
            continue
        shown = [
            f"{starts[n] * 100 / total:.3f}% {{ opacity: {int(n in numbers)} }}"
            for n in range(len(frames))
            if n == 0 or (n in numbers) != (n - 1 in numbers)
        ]
        style.append(f"@keyframes k{at} {{ {' '.join(shown)} }}")
        style.append(f"#g{at} {{ animation: k{at} {total:.2f}s step-end infinite; opacity: 0 }}")
        drawn.append(f'<g id="g{at}">{"".join(pieces)}</g>')
    head, _, _ = frames[0].partition(SCREEN)
    head = re.sub(r"@font-face \{.*?\}\s*", "", CLASS.sub("", head), flags=re.DOTALL)
    head = head.replace("</style>", "\n".join(style) + "\n</style>", 1)
    made = f'{head}{SCREEN}<g class="terminal-matrix">{"".join(drawn)}</g></g></svg>\n'
    return re.sub(r"[ \t]+\n|\n\s*\n", "\n", made)


async def record(target: Path, project: Path) -> None:
    async with playing(project) as (app, on):
        film = Film(app)
        film.look(1.0)
        for start in range(0, len(LINE), 6):
            await on.type(LINE[start : start + 6])
            film.look(0.15)
        film.look(0.6)
        await on.press("enter")
        for _ in range(3):
            await film.until(on, "once", 1.8)
            await asyncio.sleep(0.6)  # a question takes no key at once
            await on.press("y")
            await on.until(lambda: "once" not in on.screen())
        await film.until(on, "Both tests pass", 0.3)
        await on.idle()
        film.look(3.5)
        await on.press("ctrl+b")
        await film.until(on, "take back", 4.0)
    target.write_text(moving(film.frames, film.times), "utf-8")
    print(f"{len(film.frames)} frames, {sum(film.times):.0f} s, {target.stat().st_size // 1000} kB")


def main(target: str) -> None:
    with tempfile.TemporaryDirectory() as scratch:
        os.environ["DESKAGENT_HOME"] = str(Path(scratch) / "home")
        asyncio.run(record(Path(target).resolve(), shop(Path(scratch))))


if __name__ == "__main__":
    main(sys.argv[1])
