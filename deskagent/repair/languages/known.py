"""Which files are repaired, by which language's table, and which are only localised in."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from pathlib import Path, PurePosixPath
from typing import Any

from deskagent.repair.languages.grammar import Grammar
from deskagent.repair.languages.tree import Tree
from deskagent.repair.places import is_foreign, is_test
from deskagent.repair.source import SourceFile
from deskagent.repair.syntax import Syntax
from deskagent.repair.types import Suspect
from deskagent.repo.walk import walk

_TABLES = {
    ".js": "javascript",
    ".jsx": "javascript",
    ".mjs": "javascript",
    ".cjs": "javascript",
    ".ts": "typescript",
    ".mts": "typescript",
    ".cts": "typescript",
    ".tsx": "tsx",
    ".go": "go",
}
_PYTHON = ".py"
# Suffix → language in which suspects are shown and nothing is edited.
OTHERS = {
    ".rs": "Rust", ".c": "C", ".h": "C", ".cc": "C++", ".cpp": "C++", ".cxx": "C++", ".hpp": "C++", ".hh": "C++",
    ".java": "Java", ".kt": "Kotlin", ".kts": "Kotlin", ".scala": "Scala", ".cs": "C#", ".swift": "Swift",
    ".rb": "Ruby", ".php": "PHP", ".pl": "Perl", ".pm": "Perl", ".lua": "Lua", ".ex": "Elixir", ".exs": "Elixir",
    ".erl": "Erlang", ".hs": "Haskell", ".ml": "OCaml", ".clj": "Clojure", ".dart": "Dart", ".r": "R", ".jl": "Julia",
    ".zig": "Zig", ".nim": "Nim", ".sh": "shell", ".bash": "shell", ".m": "Objective-C", ".vue": "Vue",
    ".svelte": "Svelte", ".fs": "F#",
}  # fmt: skip
_TITLES = {"javascript": "JavaScript", "typescript": "TypeScript", "tsx": "TypeScript", "go": "Go"}


def edited(path: str) -> bool:
    """Whether candidates can be made for a file, by its name and the grammars that are here."""
    suffix = PurePosixPath(path).suffix
    return suffix == _PYTHON or (suffix in _TABLES and _tools(_TABLES[suffix]) is not None)


def tree_of(source: SourceFile) -> Syntax | None:
    """The file's tree, None in a language that has no table or whose grammar is missing."""
    suffix = PurePosixPath(source.path).suffix
    if suffix == _PYTHON:
        return Syntax(source)
    tools = _tools(_TABLES[suffix]) if suffix in _TABLES else None
    return Tree(source, *tools) if tools is not None else None


def language_of(path: str) -> str:
    """A language's name for people, "" for what is no source of a known one."""
    suffix = PurePosixPath(path).suffix
    return "Python" if suffix == _PYTHON else OTHERS.get(suffix) or _TITLES.get(_TABLES.get(suffix, ""), "")


def only_localised(project: Path, suspects: Sequence[Suspect]) -> str:
    """What to tell a person where nothing can be edited in the languages at hand, "" where something can."""
    paths = {suspect.path for suspect in suspects} or {
        p for p in walk(project).files if not is_test(p) and not is_foreign(p)
    }
    if any(edited(path) for path in paths):
        return ""
    names = {language_of(path): path for path in paths if not edited(path) and language_of(path)}
    lacking = sorted(name for name, path in names.items() if PurePosixPath(path).suffix in _TABLES)
    others = sorted(names.keys() - set(lacking))
    said = []
    if others:
        said.append(
            f"In {' and '.join(others)} this only localises: it lists the likeliest places and edits nothing."
        )
    if lacking:
        said.append(
            f"The grammar of {' and '.join(lacking)} is not installed here, so that this only localises: install "
            "deskagent's dependencies anew."
        )
    return " ".join(said)


@functools.cache
def _tools(name: str) -> tuple[Grammar, Any] | None:
    grammar = _grammar(name)
    parser = grammar.parser()
    return (grammar, parser) if parser is not None else None


def _grammar(name: str) -> Grammar:
    if name == "go":
        from deskagent.repair.languages import go

        return go.GRAMMAR
    if name == "javascript":
        from deskagent.repair.languages import javascript

        return javascript.GRAMMAR
    from deskagent.repair.languages import typescript

    return typescript.GRAMMAR if name == "typescript" else typescript.TSX
