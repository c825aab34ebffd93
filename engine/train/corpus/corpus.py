"""The corpus as a whole: a lock's packages, checked, without near-duplicates, in its two halves."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from engine.train.corpus import packages
from engine.train.corpus.files import Document
from engine.train.corpus.lock import Package
from engine.train.corpus.near import distinct


@dataclass(frozen=True, slots=True)
class Corpus:
    """train, held: documents of different packages, no two of all of them alike. dropped: near-duplicates left out."""

    train: list[Document]
    held: list[Document]
    dropped: int


def gather(locked: Sequence[Package], folder: Path, environments: Sequence[Path] = ()) -> Corpus:
    """What environments hold in the locked version comes from there, the rest is installed into `folder`.

    Errors: ConfigError for what can't be had, is measured on or has no permissive licence; CheckpointError for files
    that aren't the locked ones.
    """
    sites = [*packages.site_folders(environments), *sorted(folder.glob("*"))]
    read: dict[str, list[Document]] = {"train": [], "held": []}
    for package in locked:
        packages.refuse(package.name)
        found = packages.find(package.name, package.version, sites)
        found = found or packages.install(package.name, package.version, folder)
        read[package.use] += packages.checked(package, found)
    # those to learn from come first, so what both halves share is not held out
    every = [*read["train"], *read["held"]]
    left = list(distinct(every))
    held = {package.name for package in locked if package.use == "held"}
    return Corpus(
        [document for document in left if document.package not in held],
        [document for document in left if document.package in held],
        len(every) - len(left),
    )
