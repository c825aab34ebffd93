"""Slugs for addresses."""

import re
import unicodedata

OTHER = re.compile(r"[^a-z0-9]+")


def plain(text):
    """`text` in lower case without accents."""
    split = unicodedata.normalize("NFKD", text)
    return "".join(char for char in split if not unicodedata.combining(char)).lower()


def slug(title, longest=60):
    """A title as a piece of an address: letters and digits, single dashes between them."""
    text = OTHER.sub("-", plain(title)).strip("-")
    return text[:longest].rstrip("-") or "untitled"


class Slugs:
    """Gives out slugs, each only once."""

    def __init__(self):
        self._taken = set()

    def take(self, title):
        base = slug(title)
        candidate = base
        number = 2
        while candidate in self._taken:
            candidate = f"{base}-{number}"
            number += 1
        self._taken.add(candidate)
        return candidate
