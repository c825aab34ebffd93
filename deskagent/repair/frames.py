"""Where tests failed, by their tracebacks: frames of the project's files, and lines at which a file doesn't parse."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping

from deskagent.repair.syntax import Syntax
from deskagent.repair.types import Baseline, Frame

_FRAME = re.compile(r"^([^\s:]+\.\w+):(\d+): ", re.MULTILINE)
_SYNTAX_ERROR = re.compile(
    r'File "([^"\n]+)", line (\d+)(?:(?!File ").)*?\b(?:SyntaxError|IndentationError|TabError)\b', re.DOTALL
)


def frames_in(
    baseline: Baseline, paths: frozenset[str]
) -> tuple[dict[tuple[str, int], int], dict[tuple[str, int], int]]:
    """(path, line) → failing tests whose innermost frame in these files is there, and which have it further out."""
    innermost: dict[tuple[str, int], int] = defaultdict(int)
    on_stack: dict[tuple[str, int], int] = defaultdict(int)
    for result in baseline.failing:
        own = [frame for frame in result.frames or _shown_frames(result.message) if frame.path in paths]
        if own:
            innermost[own[-1].path, own[-1].line] += 1
        for spot in {(frame.path, frame.line) for frame in own[:-1]}:
            on_stack[spot] += 1
    return innermost, on_stack


def _shown_frames(message: str) -> list[Frame]:
    """Frames as pytest writes them beneath each function, where the runner gave none."""
    return [Frame(path, int(line), "") for path, line in _FRAME.findall(message)]


def syntax_errors(baseline: Baseline, trees: Mapping[str, Syntax]) -> Iterable[tuple[str, int]]:
    """(path, line) of files that don't parse: as the tests say, else as our own compiler does."""
    for path, tree in trees.items():
        if tree.error is None:
            continue
        said = [
            int(match.group(2))
            for result in baseline.failing
            for match in _SYNTAX_ERROR.finditer(result.message)
            if match.group(1).replace("\\", "/").endswith(path)
        ]
        if said or tree.slipped:
            yield path, said[0] if said else tree.error.lineno or 1
