"""Which changes look like mends: not those of words, types and style, of what a function is called with, of new
features, nor those that were made everywhere at once."""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher

from engine.prompt.edits import Edit, apply, between, write
from engine.train.bugs.answer import LARGEST
from engine.train.bugs.source import FUNCTIONS, docstring, parse
from engine.train.edits.kinds import kind_of_fix
from engine.train.edits.pairs import Pair

_EVERYWHERE = 3
"""So many changes alike in a package are one of its style or of a name."""
_STRANGE = 1
"""New names that stand nowhere in the file, at most: more come with a new feature."""
_LEFT_OUT = re.compile(
    r"deprecat|[Ww]arning\b|warnings?\.warn|\b_?log(?:ger|ging)?\.\w+\(|\bprint\(|sys\.version_info|\bPY[23]\b|\bsix\b"
    r"|__version__|versionadded|versionchanged|TYPE_CHECKING|\bcast\(|\breveal_type\b|assert_never|\bsuper\("
    r"|\bself\.log\b|pragma|^\s*(?:from|import)\s|^\s*assert\s|#\s*type:|\bTODO\b",
    re.MULTILINE,
)
"""In a change that is no mend: of what is warned of or logged, of versions, types and imports."""
_KINDS_LEFT_OUT = frozenset({"put in: function or class", "another Import", "another ImportFrom"})
_ANEW = frozenset({"statements anew", "statement anew"})
"""Mends where words within lines are replaced; where lines are, the code is rather written in another way."""
_OF_SUPER = re.compile(r"\w+ , (?:self|cls)")
"""What `super` was told before it knew by itself."""
_OWNER = re.compile(r"(?!(?:self|cls) \.$)(?:\w+ \. ?)+")
"""A module's name before that of what is in it."""


@dataclass(frozen=True, slots=True)
class Kept:
    """edits: that make `pair.meant` of `pair.shown`. kind: see `kinds`."""

    pair: Pair
    edits: tuple[Edit, ...]
    kind: str


def kept(found: Iterable[Pair], counts: Counter[str]) -> Iterator[Kept]:
    """Of the pairs of one package. counts: why the others are left out."""
    read = [(pair, tokens(pair.before), tokens(pair.after)) for pair in found]
    alike: Counter[str] = Counter()
    changes = []
    for pair, old, new in read:
        gone, come = _differing(old, new)
        changes.append((pair, gone, come))
        alike[f"{gone}\n{come}"] += 1
    done = {(gone, come, pair.name) for pair, gone, come in changes}
    for pair, gone, come in changes:
        edits = tuple(between(pair.shown, pair.meant))
        why = _why_not(pair, gone, come, edits)
        if not why and alike[f"{gone}\n{come}"] >= _EVERYWHERE:
            why = "everywhere"
        if not why and (come, gone, pair.name) in done:
            why = "undone"
        kind = "" if why else kind_of_fix(_whole(pair.before), _whole(pair.after))
        if kind in _KINDS_LEFT_OUT or (kind in _ANEW and any(None in (each.old, each.new) for each in edits)):
            why = kind
        if why:
            counts[why] += 1
        else:
            yield Kept(pair, edits, kind)


def _why_not(pair: Pair, gone: str, come: str, edits: Sequence[Edit]) -> str:
    """Nothing for what may be a mend."""
    if gone == come:
        return "words, types, layout"
    if not come and _OF_SUPER.fullmatch(gone):
        return "warnings, logs, versions, imports"
    if len(edits) > 1 and len({(edit.old, edit.new) for edit in edits}) == 1:
        return "a name anew"
    if pair.strange > _STRANGE:
        return "strange names"
    if _LEFT_OUT.search(f"{gone}\n{come}") or _LEFT_OUT.search(_lines(edits)):
        return "warnings, logs, versions, imports"
    if (not come and _OWNER.fullmatch(gone)) or (not gone and _OWNER.fullmatch(come)):
        return "warnings, logs, versions, imports"
    if not edits or len(write(edits)) > LARGEST or apply(edits, pair.shown) != pair.meant:
        return "can't be told"
    old, new = parse(pair.before), parse(pair.after)
    if old is None or new is None:
        return "doesn't parse"
    one, two = _function(old), _function(new)
    if _code(one) == _code(two):
        return "words, types, layout"
    if ast.dump(one.args) != ast.dump(two.args) or type(one) is not type(two):
        return "signature"
    if _without_texts(one) == _without_texts(two):
        return "" if _is_data(gone) and _is_data(come) else "texts"
    if _formatted(gone, come):
        return "formatting of texts"
    return ""


def tokens(code: str) -> list[str]:
    """Without comments and layout; empty where they can't be told."""
    skipped = (
        tokenize.COMMENT,
        tokenize.NL,
        tokenize.NEWLINE,
        tokenize.INDENT,
        tokenize.DEDENT,
        tokenize.ENDMARKER,
    )
    try:
        read = tokenize.generate_tokens(io.StringIO(_whole(code)).readline)
        return [token.string for token in read if token.type not in skipped]
    except (tokenize.TokenError, SyntaxError):
        return []


def _whole(code: str) -> str:
    return "if 1:\n" + code if code[:1] in (" ", "\t") else code


def _differing(old: list[str], new: list[str]) -> tuple[str, str]:
    """Tokens gone and come."""
    gone: list[str] = []
    come: list[str] = []
    for kind, i, j, k, m in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if kind != "equal":
            gone += old[i:j]
            come += new[k:m]
    return " ".join(gone), " ".join(come)


def _lines(edits: Sequence[Edit]) -> str:
    return "\n".join(text for edit in edits for text in (edit.old, edit.new) if text)


def _function(tree: ast.Module) -> ast.FunctionDef | ast.AsyncFunctionDef:
    """Bare of docstrings and types."""
    for node in ast.walk(tree):
        if isinstance(node, FUNCTIONS):
            node.returns = None
            if docstring(node.body) is not None:
                node.body = node.body[1:] or [ast.Pass()]
        elif isinstance(node, ast.arg):
            node.annotation = None
        elif isinstance(node, ast.AnnAssign):
            node.annotation = ast.Constant(None)
    return next(node for node in ast.walk(tree) if isinstance(node, FUNCTIONS))


def _code(node: ast.AST) -> str:
    return ast.dump(node)


def _without_texts(node: ast.AST) -> str:
    for each in ast.walk(node):
        if isinstance(each, ast.Constant) and isinstance(each.value, str | bytes):
            each.value = ""
    return ast.dump(node)


def _is_data(text: str) -> bool:
    """Whether texts are keys, names or patterns and no sentences."""
    return text.count(" ") <= 1 or "\\" in text


def _formatted(gone: str, come: str) -> bool:
    """Whether a text is put together in another way, as tools do it."""
    old, new = (re.search(r"\.\s*format\b|% ", gone), re.search(r"\b[fF][rR]?['\"]", come))
    return old is not None and new is not None
