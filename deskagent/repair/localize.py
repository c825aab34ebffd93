"""Suspicious statements: what the failing tests run and the passing don't, stack frames, names and literals in
words, the place of a syntax error."""

from __future__ import annotations

import math
import re
import time
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from deskagent.repair.data import imported_data, module_data, read_names, read_on
from deskagent.repair.focus import asked_for
from deskagent.repair.frames import frames_in, syntax_errors
from deskagent.repair.hints import Hints, read_hints
from deskagent.repair.languages import plain
from deskagent.repair.languages.known import edited, tree_of
from deskagent.repair.nodes import Node
from deskagent.repair.places import is_foreign, is_generated, is_test, matches
from deskagent.repair.source import SourceError, SourceFile
from deskagent.repair.speaking import Speaking
from deskagent.repair.syntax import Syntax
from deskagent.repair.topics import Topics
from deskagent.repair.types import Baseline, Suspect
from deskagent.repair.unseen import unseen
from deskagent.repo.walk import walk

# How apt a statement is to hold a fault, by its kind; 1 where nothing is said.
KINDS: dict[str, float] = {
    "function_definition": 0.45, "class_definition": 0.15, "import_statement": 0.2, "import_from_statement": 0.25,
    "future_import_statement": 0.0, "pass_statement": 0.3, "global_statement": 0.1, "nonlocal_statement": 0.1,
    "try_statement": 0.2, "finally_clause": 0.2, "else_clause": 0.15, "with_statement": 0.6, "raise_statement": 0.6,
    "assert_statement": 0.6, "break_statement": 0.8, "continue_statement": 0.8, "for_statement": 0.9,
    # JavaScript, TypeScript, Go
    "function_declaration": 0.45, "generator_function_declaration": 0.45, "method_definition": 0.45,
    "method_declaration": 0.45, "class_declaration": 0.1, "export_statement": 0.15, "package_clause": 0.0,
    "import_declaration": 0.05, "type_declaration": 0.15, "throw_statement": 0.6,
}  # fmt: skip
INNERMOST, ON_STACK = 2.0, 1.3
IN_REQUEST, IN_MESSAGE = 1.6, 1.15
LITERAL = 1.3
NEVER_RUN = 0.02
SPREAD = 10.0
"""After so many statements of a function the next are less suspected by the root of a half."""
MAX_SUSPECTS = 400
MAX_FILES = 500


@dataclass
class _Spot:
    score: float = 0.0
    reasons: list[str] = field(default_factory=list)

    def times(self, factor: float, reason: str) -> None:
        self.score *= factor
        if reason not in self.reasons:
            self.reasons.append(reason)

    def at_least(self, score: float, reason: str) -> None:
        if score > self.score:
            self.score = score
        if reason not in self.reasons:
            self.reasons.append(reason)


def localize(
    project: Path,
    baseline: Baseline,
    *,
    request: str = "",
    files: Sequence[str] = (),
    tests: bool = False,
    limit: int = MAX_SUSPECTS,
    until: float = math.inf,
) -> tuple[Suspect, ...]:
    """Suspects in the folder `project`, the most suspicious first, one a statement, at its first line; scores
    in (0, 1].

    `files` are the person's globs: nothing else is suspected; `tests` lets test files be suspected too. Files
    that can't be read as source are left out. After the monotonic time `until` no further file is read; those that
    the failing tests run the most come first then.
    """
    baseline = asked_for(request, baseline)
    hints = read_hints(request, baseline)
    ochiai = _ochiai(baseline)
    wanted = _wanted(project, baseline, ochiai, files, tests)
    found: list[Suspect] = []
    reached: dict[str, float] = defaultdict(float)
    trees: dict[str, Syntax] = {}
    if math.isfinite(until):
        wanted.sort(key=lambda path: -max(ochiai.get(path, {}).values(), default=0.0))
    for path in wanted:
        if trees and time.monotonic() > until:
            break
        try:
            source = SourceFile.read(project, path)
        except SourceError:
            continue
        if is_generated(source.text) and not any(matches(path, [glob]) for glob in files):
            continue
        tree = tree_of(source)
        if tree is not None:
            trees[path] = tree
    trees = dict(sorted(trees.items()))
    innermost, on_stack = frames_in(baseline, frozenset(trees))
    blind = not ochiai and not innermost and not on_stack
    errors = dict(syntax_errors(baseline, trees))
    topics = Topics.read(request, baseline, lambda path: _text(project, path))
    speaking = Speaking(topics, trees)
    for path, tree in trees.items():
        if path in errors:
            line = errors[path]
            found.append(Suspect(path, line, 1.0, (f"the file doesn't parse at line {line}",)))
        spots = _spots(path, tree, ochiai.get(path, {}), hints, blind)
        _use_frames(path, tree, spots, innermost, on_stack)
        _use_words(tree, spots, hints)
        _use_topics(spots, speaking)
        for node, spot in spots.items():
            for name in read_names(node):
                reached[name] = max(reached[name], spot.score)
        _spread(spots)
        found += _finish(path, spots)
    top = max((suspect.score for suspect in found), default=1.0)
    for path, tree in trees.items():
        stack = {line for where, line in (*innermost, *on_stack) if where == path}
        found += unseen(path, tree, hints, top, stack)
    read_on(trees.values(), reached)
    for path, tree in trees.items():
        found += module_data(path, tree, reached, speaking.factor, ochiai.get(path, {}))
    found += imported_data(
        project, baseline, trees, reached, lambda path: _allowed(path, files, tests), speaking
    )
    if not trees:
        found += plain.suspects(project, baseline, hints, lambda path: _allowed(path, files, tests))
    return _normalised(found, limit)


def _ochiai(baseline: Baseline) -> dict[str, dict[int, float]]:
    """Path → line → Ochiai coefficient, over the tests that have coverage."""
    bad = [baseline.coverage[r.id] for r in baseline.failing if r.id in baseline.coverage]
    good = [baseline.coverage[r.id] for r in baseline.passing if r.id in baseline.coverage]
    failed: dict[tuple[str, int], int] = defaultdict(int)
    passed: dict[tuple[str, int], int] = defaultdict(int)
    for tests, counts in ((bad, failed), (good, passed)):
        for covered in tests:
            for path, lines in covered.items():
                for line in lines:
                    counts[path, line] += 1
    scores: dict[str, dict[int, float]] = defaultdict(dict)
    for (path, line), count in failed.items():
        scores[path][line] = count / math.sqrt(len(bad) * (count + passed[path, line]))
    return scores


def _wanted(
    project: Path, baseline: Baseline, ochiai: dict[str, dict[int, float]], files: Sequence[str], tests: bool
) -> list[str]:
    """The files to look at: what failing tests run or crash in, else every source file, within `files`."""

    def allowed(path: str) -> bool:
        return edited(path) and _allowed(path, files, tests)

    run = {path for path in ochiai if allowed(path)}
    run |= {frame.path for result in baseline.failing for frame in result.frames if allowed(frame.path)}
    if run:
        return sorted(run)
    known = [path for path in walk(project).files if allowed(path)]
    text = "\n".join(result.message for result in baseline.failing)
    named = [path for path in known if re.search(rf"(?<![\w.-]){re.escape(path)}\b", text)]
    return sorted(named or known)[:MAX_FILES]


def _allowed(path: str, files: Sequence[str], tests: bool) -> bool:
    if is_foreign(path) or (files and not matches(path, files)):
        return False
    return tests or not is_test(path) or path in files


def _spots(path: str, tree: Syntax, lines: dict[int, float], hints: Hints, blind: bool) -> dict[Node, _Spot]:
    """Scores from coverage alone."""
    spots: dict[Node, _Spot] = {}
    entered: dict[Node, float] = defaultdict(float)
    for node in tree.statements:
        if tree.is_docstring(node):
            continue
        first, last = tree.own_rows(node)
        score = max((lines.get(row + 1, 0.0) for row in range(first, last + 1)), default=0.0)
        spot = spots[node] = _Spot()
        if score > 0:
            spot.at_least(
                score, "run by the failing tests" + (" more than by the passing" if score >= 0.7 else "")
            )
            function = tree.function_of(node) if node.kind not in tree.functions else None
            if function is not None:
                entered[function] = max(entered[function], score)
        elif blind:
            spot.score = 0.1
    for function, score in entered.items():
        if function in spots:
            spots[function].at_least(score, f"{_name(function)} is entered by the failing tests")
    for node, spot in spots.items():
        if not spot.score:
            function = tree.function_of(node)
            if function is not None and _name(function) in hints.request:
                spot.at_least(0.15, f"in {_name(function)}, which the request names")
            elif function in entered:
                spot.at_least(NEVER_RUN, "a branch that the failing tests don't take")
    return spots


def _name(function: Node) -> str:
    return function.syntax.name_of(function)


def _use_frames(
    path: str, tree: Syntax, spots: dict[Node, _Spot],
    innermost: dict[tuple[str, int], int], on_stack: dict[tuple[str, int], int],
) -> None:  # fmt: skip
    for frames, factor, alone, reason in (
        (on_stack, ON_STACK, 0.3, "on the stack when a test failed"),
        (innermost, INNERMOST, 0.6, "the innermost line of the project when a test failed"),
    ):
        for (where, line), _ in sorted(frames.items()):
            node = tree.by_line.get(line) if where == path else None
            if node is None or node not in spots:
                continue
            known = spots[node].score > NEVER_RUN
            spots[node].times(factor, reason)
            spots[node].at_least(alone, reason)
            function = tree.function_of(node)
            if function is not None and not known:
                for other in tree.statements:
                    if other in spots and tree.function_of(other) is function:
                        spots[other].at_least(alone / 2, f"in {_name(function)}, which was on the stack")


def _use_words(tree: Syntax, spots: dict[Node, _Spot], hints: Hints) -> None:
    """Functions and literals that the request or the failing tests speak of."""
    literals = {
        literal for literal in hints.literals if len(literal) > 2 and not literal.lstrip("-").isdigit()
    }
    for node, spot in spots.items():
        if not spot.score:
            continue
        function = tree.function_of(node)
        name = _name(function) if function is not None else ""
        if name and name in hints.request:
            spot.times(IN_REQUEST, f"the request names {name}")
        elif name and name in hints.message:
            spot.times(IN_MESSAGE, f"the failing tests name {name}")
        if literals and any(
            part.kind in tree.string_text and part.text in literals for part in tree.own_nodes(node)
        ):
            spot.times(LITERAL, "holds a string that a failing test shows")


def _use_topics(spots: dict[Node, _Spot], speaking: Speaking) -> None:
    for node, spot in spots.items():
        if spot.score:
            spot.times(speaking.factor(node), "speaks of what the failing tests are about")


def _text(project: Path, path: str) -> str | None:
    try:
        return SourceFile.read(project, path).text
    except SourceError:
        return None


def _spread(spots: dict[Node, _Spot]) -> None:
    """Of statements that are as suspicious as each other, the first few of every function come before the rest."""
    given: dict[Node | None, int] = defaultdict(int)
    for node in sorted(spots, key=lambda node: -spots[node].score * KINDS.get(node.kind, 1.0)):
        function = node.syntax.function_of(node)
        spots[node].score /= math.sqrt(1 + given[function] / SPREAD)
        given[function] += 1


def _finish(path: str, spots: dict[Node, _Spot]) -> list[Suspect]:
    return [
        Suspect(path, node.line, spot.score * KINDS.get(node.kind, 1.0), tuple(spot.reasons))
        for node, spot in spots.items()
        if spot.score * KINDS.get(node.kind, 1.0) > 0
    ]


def _normalised(found: list[Suspect], limit: int) -> tuple[Suspect, ...]:
    """The best for each place, scaled so that the first has 1."""
    best: dict[tuple[str, int], Suspect] = {}
    for suspect in found:
        known = best.get((suspect.path, suspect.line))
        if known is None or suspect.score > known.score:
            best[suspect.path, suspect.line] = suspect
    top = max((suspect.score for suspect in best.values()), default=1.0)
    scaled = [Suspect(s.path, s.line, s.score / top, s.reasons) for s in best.values()]
    return tuple(sorted(scaled, key=lambda s: (-s.score, s.path, s.line))[:limit])
