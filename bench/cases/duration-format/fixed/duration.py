"""Durations of songs and play lists."""


def show(seconds):
    """Seconds as m:ss, or h:mm:ss from an hour on."""
    if seconds < 0:
        raise ValueError("negative duration")
    minutes, rest = divmod(int(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    if hours:
        return f"{hours}:{minutes:02d}:{rest:02d}"
    return f"{minutes}:{rest:02d}"


def parse(text):
    """The reverse of show."""
    total = 0
    for part in text.split(":"):
        total = total * 60 + int(part)
    return total


def play_list(songs):
    """Lines of title and duration, and the sum at the end."""
    lines = [f"{title} ({show(seconds)})" for title, seconds in songs]
    lines.append("total " + show(sum(seconds for _, seconds in songs)))
    return lines
