"""A run's curves as one SVG: losses by kind, on rows trained on and held out, and what is watched beside them.

python -m engine.train.plot RUN OUT.svg
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any
from xml.sax.saxutils import escape

from engine.errors import CheckpointError, EngineError
from engine.train.log import NAME, lines
from engine.weights.writer import write_whole

Curves = Mapping[str, Sequence[tuple[float, float]]]
"""Name → points (step, value)."""
_WIDTH, _HEIGHT, _LEFT, _TOP, _GAP = 720, 200, 56, 24, 44
_COLOURS = ("#1f77b4", "#d62728", "#2ca02c", "#9467bd", "#ff7f0e", "#8c564b", "#17becf", "#7f7f7f")
_POINTS = 300
"""A curve's points; of more, as many means are drawn."""


def panels(found: Sequence[Mapping[str, Any]]) -> dict[str, Curves]:
    """Title → curves, of a log's lines."""
    steps = [line for line in found if "loss" in line]
    held = [line for line in found if "held" in line]

    def watched(key: str) -> Curves:
        return {key: [(line["step"], line[key]) for line in steps]}

    recalls: dict[str, list[tuple[float, float]]] = {}
    for line in held:
        for name, by in line["recall"].items():
            for choice, mass in by.items():
                recalls.setdefault(f"{choice}, {name}", []).append((line["step"], mass))
    made = {
        "loss": _by_kind([(line["step"], line["kinds"]) for line in steps]),
        "loss, held out": _by_kind([(line["step"], line["held"]["kinds"]) for line in held]),
        "attention that a choice keeps, held out": recalls,
        "indexer: KL to attention": watched("divergence"),
        "fullest expert over the mean": watched("fullest"),
        "learning rate": watched("lr"),
        "gradient norm": watched("norm"),
        "tokens a second": watched("speed"),
    }
    return {title: curves for title, curves in made.items() if any(curves.values())}


def _by_kind(found: Sequence[tuple[float, Mapping[str, float]]]) -> Curves:
    curves: dict[str, list[tuple[float, float]]] = {}
    for step, kinds in found:
        for kind, loss in kinds.items():
            curves.setdefault(kind, []).append((step, loss))
    return curves


def svg(shown: Mapping[str, Curves]) -> str:
    height = len(shown) * (_HEIGHT + _GAP) + _TOP
    body = "".join(
        part
        for number, (title, curves) in enumerate(shown.items())
        for part in _panel(title, curves, _TOP + number * (_HEIGHT + _GAP))
    )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH + 2 * _LEFT} {height}"'
        f' font-family="sans-serif" font-size="11"><rect width="100%" height="100%" fill="white"/>{body}</svg>\n'
    )


def _panel(title: str, curves: Curves, top: int) -> Iterator[str]:
    drawn = {name: _thinned(points) for name, points in sorted(curves.items())}
    across = [step for points in drawn.values() for step, _ in points]
    up = [value for points in drawn.values() for _, value in points]
    low, high = min(up), max(up)
    first, last = min(across), max(across)
    yield f'<text x="{_LEFT}" y="{top - 6}" font-weight="bold">{escape(title)}</text>'
    yield (
        f'<rect x="{_LEFT}" y="{top}" width="{_WIDTH}" height="{_HEIGHT}" fill="none" stroke="#ccc"/>'
        f'<text x="{_LEFT - 4}" y="{top + 10}" text-anchor="end">{high:.3g}</text>'
        f'<text x="{_LEFT - 4}" y="{top + _HEIGHT}" text-anchor="end">{low:.3g}</text>'
        f'<text x="{_LEFT}" y="{top + _HEIGHT + 13}">{first:g}</text>'
        f'<text x="{_LEFT + _WIDTH}" y="{top + _HEIGHT + 13}" text-anchor="end">step {last:g}</text>'
    )
    for number, (name, points) in enumerate(drawn.items()):
        colour = _COLOURS[number % len(_COLOURS)]
        placed = " ".join(
            f"{_LEFT + _WIDTH * _part(step, first, last):.1f},{top + _HEIGHT * (1 - _part(value, low, high)):.1f}"
            for step, value in points
        )
        yield f'<polyline fill="none" stroke="{colour}" points="{placed}"/>'
        yield (
            f'<text x="{_LEFT + _WIDTH - 6}" y="{top + 13 + 13 * number}" text-anchor="end" fill="{colour}">'
            f"{escape(name)} {points[-1][1]:.3g}</text>"
        )


def _part(value: float, low: float, high: float) -> float:
    return (value - low) / (high - low) if high > low else 0.5


def _thinned(points: Sequence[tuple[float, float]]) -> list[tuple[float, float]]:
    size = -(-len(points) // _POINTS)
    parts = (points[at : at + size] for at in range(0, len(points), size))
    return [(part[-1][0], sum(value for _, value in part) / len(part)) for part in parts]


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m engine.train.plot")
    parser.add_argument("run", type=Path)
    parser.add_argument("out", type=Path)
    asked = parser.parse_args()
    try:
        found = lines(asked.run)
        if not found:
            raise CheckpointError(f"{asked.run / NAME}: no lines of a run in it")
        write_whole(asked.out, [svg(panels(found)).encode()])
    except EngineError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
