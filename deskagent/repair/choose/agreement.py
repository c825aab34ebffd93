"""Signs in how patches stand to what is stated of the functions: examples, laws, annotations, callers."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator

from deskagent.repair.choose.behaviour import Comparison
from deskagent.repair.choose.differ import Key
from deskagent.repair.choose.returns import allows, fits
from deskagent.repair.choose.stated import Told
from deskagent.repair.choose.types import Sign


def signs(comparison: Comparison) -> dict[int, list[Sign]]:
    """All of them, by patch."""
    found: dict[int, list[Sign]] = defaultdict(list)
    for number, sign in (
        *_told(comparison, "example", "says"),
        *_told(comparison, "law", "should hold"),
        *_returned(comparison, "annotated", _excluded),
        *_returned(comparison, "callers", _unfit),
    ):
        found[number].append(sign)
    return found


def _told(comparison: Comparison, kind: str, verb: str) -> Iterator[tuple[int, Sign]]:
    """Of the statements that hold with some of the patches and not with others: how many fail, less the fewest."""
    told = comparison.behaviour.told
    numbers = [n for n in comparison.numbers if n in told]
    texts = {text for n in numbers for text, one in told[n].items() if one.kind == kind}
    telling = [
        text
        for text in sorted(texts)
        if {one.held for n in numbers if (one := told[n].get(text)) is not None} >= {True, False}
    ]
    if not telling:
        return

    def broken(number: int) -> list[Told]:
        found = (told[number].get(text) for text in telling)
        return [one for one in found if one is not None and one.held is False]

    least = min(len(broken(n)) for n in numbers)
    for number in numbers:
        fails = broken(number)
        if len(fails) > least:
            one = min(fails, key=lambda t: len(t.text))
            text = f"`{one.text}` {verb} the project, but it gives {one.out[:80]}"
            if kind == "law":
                text = f"`{one.text}` {verb} by the names, but it gives {one.out[:80]}"
            yield number, Sign(kind, (len(fails) - least) / len(telling), text)


def _returned(
    comparison: Comparison, name: str, wrong: Callable[[Comparison, int, Key], str]
) -> Iterator[tuple[int, Sign]]:
    """On inputs that tests or the code use: the share on which `wrong` has something to say, less the least."""
    keys = [key for key in comparison.keys if not comparison.at(0, key).new]
    if not keys:
        return
    found = {n: [text for key in keys if (text := wrong(comparison, n, key))] for n in comparison.seen}
    least = min(map(len, found.values()), default=0)
    for number, texts in found.items():
        if len(texts) > least:
            yield number, Sign(name, 1, texts[0])


def _excluded(comparison: Comparison, number: int, key: Key) -> str:
    one = comparison.at(number, key)
    annotation = comparison.behaviour.annotated.get(key[0])
    if one.kind == "returns" and annotation is not None and allows(annotation, one.type) is False:
        return f"{key[1]} returns {one.type}, which the annotation excludes"
    return ""


def _unfit(comparison: Comparison, number: int, key: Key) -> str:
    one = comparison.at(number, key)
    for use in sorted(comparison.behaviour.uses.get(key[0], ())):
        if one.kind == "returns" and not fits(use, one.type):
            how = f"use {use}" if use.startswith(".") else f"have it {use}"
            return f"{key[1]} returns {one.type}, but callers {how}"
    return ""
