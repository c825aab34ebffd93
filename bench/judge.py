"""Whether a result is the developer's: equal up to formatting, for whole trees and for single patches."""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping
from pathlib import PurePosixPath

Tree = Mapping[str, bytes]

_TOKEN = re.compile(r"\w+|[^\w\s]")
_HUNK = re.compile(r"@@ -(\d+)(?:,(\d+))? \+\d+(?:,\d+)? @@")


def text_of(data: bytes) -> str:
    """Source bytes as text; whatever isn't UTF-8 is read byte by byte, so that nothing is lost."""
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        return data.decode("cp1252", "replace")


def _shape(source: bytes) -> str:
    tree = ast.parse(source)
    for node in ast.walk(tree):
        body = getattr(node, "body", None)
        if isinstance(body, list):
            node.body = [statement for statement in body if not _is_text(statement)] or [ast.Pass()]
    return ast.dump(tree)


def _is_text(statement: ast.stmt) -> bool:
    """A docstring, or another string that stands alone and does nothing."""
    value = statement.value if isinstance(statement, ast.Expr) else None
    return isinstance(value, ast.Constant) and isinstance(value.value, str)


def same_code(path: str, one: bytes, other: bytes) -> bool:
    """Equal syntax trees without positions and docstrings for Python, equal tokens for all else."""
    if one == other:
        return True
    if PurePosixPath(path).suffix == ".py":
        try:
            return _shape(one) == _shape(other)
        except (SyntaxError, ValueError):
            return False
    return _TOKEN.findall(text_of(one)) == _TOKEN.findall(text_of(other))


def right(before: Tree, after: Tree, answers: tuple[Tree, ...]) -> bool:
    """Whether `after` is one of the `answers` applied to `before`: nothing is missing, nothing else changed.

    `before` and `after` hold whole trees, an answer only the files that it changes.
    """
    for answer in answers:
        wanted = {**before, **answer}
        if wanted.keys() == after.keys() and all(same_code(p, wanted[p], after[p]) for p in wanted):
            return True
    return False


class PatchDoesNotApply(ValueError):
    """The diff names lines that the file doesn't have."""


def apply_diff(before: Tree, diff: str) -> dict[str, bytes]:
    """`before` with a unified diff (paths after a/ and b/) applied; PatchDoesNotApply where it doesn't fit.

    The changed files come back as UTF-8 without a mark, whatever they were: good enough to compare code.
    """
    after = dict(before)
    lines: list[str] = []
    path, shift, at, left = "", 0, 0, 0
    for raw in diff.split("\n"):
        line = raw.rstrip("\r")
        if left <= 0 and line.startswith("+++ "):
            path = line[4:].split("\t")[0].removeprefix("b/")
            if path not in before:
                raise PatchDoesNotApply(f"no file {path}")
            lines, shift = text_of(before[path]).splitlines(), 0
        elif match := _HUNK.match(line):
            count = int(match[2] or 1)
            at = int(match[1]) - (1 if count else 0) + shift
            left = count
        elif path and line[:1] in (" ", "-", "+"):
            if line[0] == "+":
                lines.insert(at, line[1:])
                shift += 1
                at += 1
            elif left > 0:
                if at >= len(lines) or lines[at].strip() != line[1:].strip():
                    raise PatchDoesNotApply(f"{path}:{at + 1} is not {line[1:]!r}")
                left -= 1
                if line[0] == "-":
                    del lines[at]
                    shift -= 1
                else:
                    at += 1
            after[path] = _recoded("\n".join(lines) + "\n")
    return after


def _recoded(text: str) -> bytes:
    """UTF-8 bytes of `text`, a coding line that would say otherwise made harmless."""
    return re.sub(r"^(#.*)coding[:=]\s*[-\w.]+", r"\1", text, count=1, flags=re.MULTILINE).encode()
