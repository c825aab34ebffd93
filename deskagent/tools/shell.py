"""What a shell line runs, as far as that can be said for certain: its simple commands, each a list of words.

Rules are asked about every one of them. A line in which anything is left to the shell (an expansion, a substitution, an
assignment, a redirection into a file, a glob, a loop) is not clear, and no rule can allow it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

import tree_sitter
import tree_sitter_bash

MOST = 40
"""Commands of a line. One with more is refused: nobody reads so many."""
_JOINS = {"program", "list", "pipeline", "negated_command"}
_SIGNS = {"&&", "||", "|", ";", "\n", "!"}
_ODD = re.compile(r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u2028\u2029]")
_LEFT_TO_THE_SHELL = re.compile(r"[*?\[\]{}~$`\\!]")


@dataclass(frozen=True, slots=True)
class Line:
    """commands: those that are known. clear: whether they are all that happens."""

    commands: tuple[tuple[str, ...], ...]
    clear: bool


class _Unclear(Exception):
    """Something in a line depends on more than the line."""


def read(line: str) -> Line:
    """Never an error: what can't be read is not clear."""
    code = line.encode("utf-8", "replace")
    tree = _parser().parse(code)
    found: list[tuple[str, ...]] = []
    try:
        if _ODD.search(line) or tree.root_node.has_error:
            raise _Unclear
        for words in _commands(tree.root_node):
            found.append(words)
    except (_Unclear, RecursionError):
        return Line(tuple(found), False)
    return Line(tuple(found), bool(found))


@cache
def _parser() -> tree_sitter.Parser:
    return tree_sitter.Parser(tree_sitter.Language(tree_sitter_bash.language()))


def _commands(node: tree_sitter.Node) -> Iterator[tuple[str, ...]]:
    if node.type in _JOINS:
        for child in node.children:
            if child.type not in _SIGNS:
                yield from _commands(child)
    elif node.type == "redirected_statement":
        for child in node.children:
            if child.type == "file_redirect":
                _harmless(child)
            else:
                yield from _commands(child)
    elif node.type == "command":
        yield tuple(_word(child) for child in node.children)
    else:
        raise _Unclear


def _word(node: tree_sitter.Node) -> str:
    """A word that stands for itself."""
    text = (node.text or b"").decode("utf-8", "replace")
    match node.type:
        case "word" | "number" if not _LEFT_TO_THE_SHELL.search(text):
            return text
        case "raw_string":
            return text[1:-1]
        case "string" if not re.search(r"[$`\\]", text) and node.named_child_count <= 1:
            return text[1:-1]
        case "command_name" | "concatenation":
            return "".join(map(_word, node.children))
    raise _Unclear


def _harmless(redirect: tree_sitter.Node) -> None:
    """Only to nowhere, or from one descriptor to another."""
    text = (redirect.text or b"").decode("utf-8", "replace").replace(" ", "")
    if not re.fullmatch(r"(?:[12&]?>{1,2}/dev/null|[12]?>&[12]|<(?!<)/dev/null)", text):
        raise _Unclear
