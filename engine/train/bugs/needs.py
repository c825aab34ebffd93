"""Which files can be imported where only the corpus, the standard library and this interpreter's packages are."""

from __future__ import annotations

import importlib.util
import re
import sys
from collections.abc import Iterable, Iterator
from functools import cache

from engine.train.corpus.files import Document
from engine.train.library import module

_IMPORT = re.compile(
    r"^(?:import[ \t]+(?P<names>[\w., \t]+)|from[ \t]+(?P<source>\.*[\w.]*)[ \t]+import\b)", re.MULTILINE
)
"""At the left margin: what is imported when the file is, whatever happens."""


def importable(documents: Iterable[Document]) -> set[tuple[str, str]]:
    """(package, path) of the Python files all of whose imports are there, and whose imports' are."""
    files = {(each.package, module(each.path)): each for each in documents if each.language == "python"}
    tops = {(package, name.partition(".")[0]) for package, name in files}
    needed = {key: list(_needed(key[0], key[1], document, files, tops)) for key, document in files.items()}
    lost = {key for key, needs in needed.items() if None in needs}
    while more := {key for key, needs in needed.items() if key not in lost and not lost.isdisjoint(needs)}:
        lost |= more
    return {(key[0], document.path) for key, document in files.items() if key not in lost}


def _needed(
    package: str, name: str, document: Document, files: dict, tops: set[tuple[str, str]]
) -> Iterator[tuple[str, str] | None]:
    """Files of the package that one imports, each with the packages around it; None for what isn't there."""
    whole = document.path.endswith("__init__.py")
    for source in _sources(document.text, name, whole):
        top = source.partition(".")[0]
        if top in sys.stdlib_module_names:
            continue
        if (package, top) in tops:
            parts = source.split(".")
            for number in range(1, len(parts) + 1):
                inner = ".".join(parts[:number])
                if (package, inner) in files:
                    yield package, inner
                elif number == len(parts) and not _folder(package, inner, files):
                    yield None
        elif not _there(top):
            yield None


def _sources(text: str, name: str, whole: bool) -> Iterator[str]:
    for found in _IMPORT.finditer(text):
        if found["names"]:
            yield from (each.split()[0] for each in found["names"].split(",") if each.strip())
            continue
        source = found["source"]
        dots = len(source) - len(source.lstrip("."))
        if dots:
            up = dots - whole
            base = name.split(".")[: -up or None]
            source = ".".join([*base, *filter(None, [source[dots:]])])
        if source:
            yield source


def _folder(package: str, name: str, files: dict) -> bool:
    return any(key[0] == package and key[1].startswith(f"{name}.") for key in files)


@cache
def _there(top: str) -> bool:
    try:
        return importlib.util.find_spec(top) is not None
    except (ImportError, ValueError):
        return False
