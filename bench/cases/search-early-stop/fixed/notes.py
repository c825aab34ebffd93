"""Searches notes."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Note:
    title: str
    body: str
    archived: bool = False


def score(note, words):
    """How well a note fits: title words count three times."""
    points = 0
    for word in words:
        points += 3 * note.title.lower().count(word) + note.body.lower().count(word)
    return points


def search(notes, text, *, archived=False):
    """Notes that hold any of the words, the best first."""
    words = text.lower().split()
    found = []
    for note in notes:
        if note.archived and not archived:
            continue
        points = score(note, words)
        if points:
            found.append((points, note))
    found.sort(key=lambda pair: -pair[0])
    return [note for _, note in found]
