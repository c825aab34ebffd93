"""How much each statement, and the function and class around it, speaks of what the failing tests are about."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping

from deskagent.repair.nodes import Node
from deskagent.repair.syntax import Syntax
from deskagent.repair.topics import Topics, words

OF_STATEMENT, OF_FUNCTION, OF_NAME, OF_CALL = 2.0, 0.5, 0.5, 0.5
"""How much more the likest is suspected."""
_SATURATION = 1.2
_USUAL = (8.0, 60.0, 4.0)
"""Words that a statement, a function, and its names usually have."""
MANY = 100
"""Functions among which words single some out; of fewer, all tend to speak of the same."""
_Words = dict[Node, Counter[str]]


class Speaking:
    """Likeness in [0, 1] of statements, of functions, and of their names, to the topics: the likest of `trees` is 1."""

    def __init__(self, topics: Topics, trees: Mapping[str, Syntax]) -> None:
        self._topics = topics
        self.statements: dict[Node, float] = {}
        self.functions: dict[Node, float] = {}
        self.names: dict[Node, float] = {}
        texts = [_texts(path, tree) for path, tree in trees.items()]
        count = Counter(word for _, bodies, _ in texts for body in bodies.values() for word in body)
        functions = sum(len(bodies) for _, bodies, _ in texts)
        whole = math.log(1 + functions)
        self._weights = {
            word: weight * max(0.0, 1 - math.log(1 + count[word]) / (whole + 1))
            for word, weight in topics.weights.items()
        }
        self._sure = min(1.0, functions / MANY)
        self._tops: list[float] = []
        self._add(texts)

    def add(self, path: str, tree: Syntax) -> None:
        """A further file, measured against those known from the beginning."""
        self._add([_texts(path, tree)])

    def _add(self, texts: list[tuple[_Words, _Words, _Words]]) -> None:
        found = [
            {
                node: _likeness(words_, self._weights, usual)
                for part in texts
                for node, words_ in part[i].items()
            }
            for i, usual in enumerate(_USUAL)
        ]
        self._tops = self._tops or [max(values.values(), default=0.0) or 1.0 for values in found]
        for known, values, top in zip(
            (self.statements, self.functions, self.names), found, self._tops, strict=True
        ):
            known.update((node, min(1.0, value / top)) for node, value in values.items())

    def factor(self, node: Node) -> float:
        """What a statement's suspicion is multiplied by."""
        home = home_of(node)
        factor = 1 + OF_STATEMENT * self._sure * self.statements.get(node, 0.0)
        if home is not None:
            name = home.get("name")
            called = self._topics.called.get(name.text, 0.0) if name is not None else 0.0
            factor *= 1 + OF_FUNCTION * self._sure * self.functions.get(home, 0.0)
            factor *= 1 + OF_NAME * self._sure * self.names.get(home, 0.0)
            factor *= 1 + OF_CALL * self._sure * called
        return factor


def home_of(node: Node) -> Node | None:
    """The function around a statement, else the class."""
    return node.syntax.function_of(node) or next(
        (n for n in node.ancestors() if n.kind in ("class_definition", "class_declaration")), None
    )


def _texts(path: str, tree: Syntax) -> tuple[_Words, _Words, _Words]:
    """Words of each statement, of each function, and of each function's names."""
    own: _Words = {}
    bodies: _Words = {}
    heads: _Words = {}
    lines = [words(line) for line in tree.source.utf8.decode("utf-8", "replace").split("\n")]
    for node in tree.statements:
        first, last = tree.own_rows(node)
        text: Counter[str] = Counter()
        for line in lines[first : last + 1]:
            text.update(line)
        own[node] = text
        home = home_of(node)
        if home is not None:
            if home not in bodies:
                bodies[home] = Counter()
                heads[home] = words(f"{_names(home)} {path}")
            bodies[home].update(text)
    return own, bodies, heads


def _names(home: Node) -> str:
    """The names of a function and the classes and functions around it."""
    around = [home, *(n for n in home.ancestors() if n.get("name") is not None)]
    return " ".join(name.text for node in around if (name := node.get("name")) is not None)


def _likeness(text: Counter[str], weights: Mapping[str, float], usual: float) -> float:
    """BM25's sum; `usual` is the length at which a text counts as of middle length."""
    length = _SATURATION * (0.5 + 0.5 * sum(text.values()) / usual)
    return sum(
        weights[word] * count * (1 + _SATURATION) / (count + length)
        for word, count in text.items()
        if word in weights
    )
