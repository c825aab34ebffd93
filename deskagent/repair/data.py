"""Data of modules and classes: it ran at import, so no test's coverage shows it; names that are read lead to it."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from dataclasses import replace
from pathlib import Path

from deskagent.repair.imported import data_modules
from deskagent.repair.languages.known import tree_of
from deskagent.repair.nodes import Node
from deskagent.repair.places import is_generated
from deskagent.repair.speaking import Speaking
from deskagent.repair.syntax import Syntax, enclosing
from deskagent.repair.types import Baseline, Suspect

REACHED_BY_NAME = 0.35
OF_ITS_CLASS = 0.5
"""Where the suspicious code names the class alone, not what it holds."""
OF_IDLE_CLASS = 0.4
"""Where the failing tests run none of the methods that the class has."""
PASSED_ON, _STEPS = 0.9, 3
"""From data to the data that it is made of, and how far that is followed."""
NO_VALUE, PLAIN_VALUE, PATTERN = 0.1, 0.5, 2.0
"""How apt data are to hold a fault: what is declared alone, a None or number, a regular expression."""
_PLAIN_VALUES = frozenset({"none", "true", "false", "integer", "float"})
_CLASS = frozenset({"class_definition"})
_UNSPOKEN = 0.4  # of that, where no suspicious file names the module


def read_names(node: Node) -> set[str]:
    """The names in a statement's own text."""
    return {part.text for part in node.syntax.own_nodes(node) if part.kind == "identifier"}


def module_data(
    path: str,
    tree: Syntax,
    reached: dict[str, float],
    factor: Callable[[Node], float],
    ran: Collection[int],
) -> list[Suspect]:
    """Module and class level assignments whose names the suspicious code reads: they ran at import, unseen. What is
    read by such an assignment alone counts as well, a step further off."""
    found = []
    for node in tree.statements:
        named = tree.named_data(node)
        around = enclosing(node, _CLASS) if named else None
        owner = tree.name_of(around) if around is not None else ""
        ranked = {name: reached.get(name, 0.0) for name in named}
        if owner:
            ranked[owner] = OF_ITS_CLASS * reached.get(owner, 0.0)
        name = max(ranked, key=lambda name: ranked[name], default="")
        if ranked.get(name, 0.0) > 0:
            score = ranked[name] * REACHED_BY_NAME * factor(node) * _aptness(node)
            if around is not None and _idle(around, ran):
                score *= OF_IDLE_CLASS
            found.append(Suspect(path, node.line, score, (f"{name} is read by suspicious code",)))
    return found


def _aptness(node: Node) -> float:
    """By the value that data are given."""
    value = node.parts[0].get("right") if node.parts and node.parts[0].kind == "assignment" else None
    if value is None:
        return NO_VALUE if node.parts and node.parts[0].kind == "assignment" else 1.0
    if value.kind in _PLAIN_VALUES:
        return PLAIN_VALUE
    return PATTERN if value.kind == "call" and value.text.startswith(("re.compile", "regex.compile")) else 1.0


def _idle(around: Node, ran: Collection[int]) -> bool:
    """Whether a class has methods and none of them was run by the failing tests; no, where nothing says what ran."""
    return (
        bool(ran)
        and not any(around.row < line - 1 <= around.end_row for line in ran)
        and any(node.kind in node.syntax.functions for node in around.walk())
    )


def read_on(trees: Iterable[Syntax], reached: dict[str, float]) -> None:
    """Names that module data which is reached reads in turn, with a share of its score."""
    for _ in range(_STEPS):
        more: dict[str, float] = {}
        for tree in trees:
            for node in tree.statements:
                named = tree.named_data(node)
                score = max((reached.get(name, 0.0) for name in named), default=0.0) * PASSED_ON
                for name in read_names(node) - set(named) if score > 0 else ():
                    if score > reached.get(name, 0.0):
                        more[name] = max(more.get(name, 0.0), score)
        if not more:
            return
        reached.update(more)


def imported_data(
    project: Path,
    baseline: Baseline,
    trees: dict[str, Syntax],
    reached: dict[str, float],
    allowed: Callable[[str], bool],
    speaking: Speaking,
) -> list[Suspect]:
    """The same in modules that ran at import alone, so that no test's coverage has them."""
    names = frozenset(name for name, score in reached.items() if score > 0)
    found: list[Suspect] = []
    for source, spoken_of in data_modules(
        project, baseline, names, [t.source for t in trees.values()], allowed
    ):
        tree = tree_of(source)
        if tree is not None and not is_generated(source.text):
            read_on([tree], reached)
            speaking.add(source.path, tree)
            data = module_data(source.path, tree, reached, speaking.factor, ())
            found += data if spoken_of else [replace(s, score=s.score * _UNSPOKEN) for s in data]
    return found
