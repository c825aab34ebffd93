"""The benchmark's cases as data, read from folders of our own format (see cases/README.md)."""

from __future__ import annotations

import hashlib
import json
import shutil
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Case:
    """One bug: how to lay out its tree, what to ask for, what to run, and what counts as right.

    `trees` are folders copied over one another in order; `answers` are alternatives, each path → bytes of the
    files that the developer changed; without `git` the tree stays a plain folder.
    """

    name: str
    kind: str
    request: str
    test: str
    failing: tuple[str, ...]
    trees: tuple[Path, ...]
    answers: tuple[dict[str, bytes], ...]
    set: str = "tune"
    git: bool = True

    def lay_out(self, folder: Path) -> None:
        """Makes the buggy tree in `folder`, which may exist already."""
        for tree in self.trees:
            shutil.copytree(tree, folder, dirs_exist_ok=True, symlinks=True)

    def before(self, path: str) -> bytes:
        """The bytes of one file of the buggy tree."""
        for tree in reversed(self.trees):
            if (tree / path).is_file():
                return (tree / path).read_bytes()
        return b""


def set_of(name: str) -> str:
    """A third of all names are "held", by their hash: never looked at while operators are tuned."""
    return "held" if int(hashlib.sha256(name.encode()).hexdigest(), 16) % 3 == 0 else "tune"


def files_under(folder: Path) -> dict[str, bytes]:
    """Project-relative POSIX path → bytes of every file below `folder`."""
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and "__pycache__" not in path.parts
    }


def load_case(folder: Path) -> Case:
    """The case in `folder` (case.json, buggy/, fixed*/)."""
    meta = json.loads((folder / "case.json").read_text("utf-8"))
    answers = tuple(files_under(answer) for answer in sorted(folder.glob("fixed*")) if answer.is_dir())
    if not answers:
        raise ValueError(f"{folder}: no fixed/ folder beside case.json")
    return Case(
        name=meta["name"],
        kind=meta["kind"],
        request=meta["request"],
        test=meta["test"],
        failing=tuple(meta["failing"]),
        trees=(folder / "buggy",),
        answers=answers,
        set=meta["set"],
        git=meta.get("git", True),
    )


def find_cases(paths: list[Path]) -> list[Case]:
    """All cases of our own format at or below `paths`, by name."""
    found: dict[str, Case] = {}
    for path in paths:
        files = [path / "case.json"] if (path / "case.json").is_file() else sorted(path.rglob("case.json"))
        for file in files:
            if (file.parent / "buggy").is_dir():
                found[file.parent.as_posix()] = load_case(file.parent)
    return sorted(found.values(), key=lambda case: case.name)
