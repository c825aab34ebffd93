"""Times of subtitles – 00:01:02,500."""

import re

TIME = re.compile(r"(\d+):(\d\d):(\d\d),(\d\d\d)")


def parse(text):
    """Milliseconds of a time."""
    match = TIME.fullmatch(text.strip())
    if match is None:
        raise ValueError(f"no time: {text!r}")
    hours, minutes, seconds, rest = map(int, match.groups())
    return ((hours * 60 + minutes) * 60 + seconds) * 1000 + rest


def show(milliseconds):
    seconds, rest = divmod(milliseconds, 1000)
    minutes, seconds = divmod(seconds, 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours:02d}:{minutes:02d}:{seconds:02d},{rest:03d}"
