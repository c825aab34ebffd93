"""Documents to draw from, and which of them belong together."""

from __future__ import annotations

import re
from bisect import bisect
from collections.abc import Sequence
from itertools import accumulate
from pathlib import PurePosixPath
from random import Random

from engine.train.corpus.files import Document

LETTERS_PER_TOKEN = 3.6
_SHARES = {"python": 1.0}
_OTHER = 0.5
"""How often a letter of another language is drawn, against one of Python."""
_IMPORT = re.compile(r"^[ \t]*from[ \t]+([.\w]+)[ \t]+import[ \t]+(?:\(([\w\s,]+)|([\w \t,]+))", re.MULTILINE)


class Library:
    """letters: about as many as fit a sequence."""

    def __init__(self, documents: Sequence[Document], context: int) -> None:
        self.documents = documents
        self.letters = int(context * LETTERS_PER_TOKEN)
        self._sums = list(
            accumulate(len(each.text) * _SHARES.get(each.language, _OTHER) for each in documents)
        )
        self._modules = {
            (each.package, module(each.path)): each for each in documents if each.language == "python"
        }

    def draw(self, random: Random) -> Document:
        """By size, so that all text comes equally often."""
        return self.documents[bisect(self._sums, random.random() * self._sums[-1], hi=len(self._sums) - 1)]

    def imported(self, document: Document) -> list[tuple[Document, list[str]]]:
        """Files of the same package that a Python file imports from, with the names that it takes from each."""
        found = []
        for source, within, bare in _IMPORT.findall(document.text):
            there = self._modules.get(
                (document.package, _absolute(module(document.path), document.path, source))
            )
            if there is not None and there is not document:
                found.append(
                    (there, [name.split()[0] for name in (within or bare).split(",") if name.strip()])
                )
        return found


def module(path: str) -> str:
    """The name by which a file is imported."""
    parts = PurePosixPath(path).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def _absolute(own: str, path: str, source: str) -> str:
    """What `from source import …` means in the module `own`."""
    dots = len(source) - len(source.lstrip("."))
    if not dots:
        return source
    up = dots - (PurePosixPath(path).stem == "__init__")
    base = own.split(".")
    return ".".join([*base[: len(base) - up], *filter(None, [source[dots:]])])
