"""Subtitle files: blocks of a number, a line of times and text."""

from dataclasses import dataclass

from subs.times import parse, show


@dataclass(frozen=True)
class Subtitle:
    start: int
    end: int
    text: str


def read(text):
    found = []
    for block in text.strip().split("\n\n"):
        lines = block.splitlines()
        start, _, end = lines[1].partition("-->")
        found.append(Subtitle(parse(start), parse(end), "\n".join(lines[2:])))
    return found


def write(subtitles):
    blocks = []
    for number, subtitle in enumerate(subtitles, 1):
        blocks.append(f"{number}\n{show(subtitle.start)} --> {show(subtitle.end)}\n{subtitle.text}\n")
    return "\n".join(blocks)


def shift(subtitles, milliseconds):
    """All subtitles later (or earlier), those before the start dropped."""
    moved = [Subtitle(s.start + milliseconds, s.end + milliseconds, s.text) for s in subtitles]
    return [subtitle for subtitle in moved if subtitle.end > 0]
