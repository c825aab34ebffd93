"""What top-k, top-p and min-p leave of a row of logits, and a draw from it: exact, and without sorting the row.

All of it is numpy on one row, whose calls take a fraction of torch's time. A vocabulary is sorted nowhere: bounds that
cost one pass leave few candidates, and only these are put in order.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float32]
Doubles = NDArray[np.float64]
Places = NDArray[np.int64]

_NUCLEUS = 256
"""Candidates that are put in order at first; a nucleus seldom has more."""
_WIDTH = 64
"""Values of which the largest stands for all, where a bound is looked for."""
_BLOCK = 512
"""Chances that are summed as one before the draw looks inside."""
_SHARES, _DEPTH = 64, 44
"""Bins of a wide nucleus: so many for a factor e of chance, down to e^-44, below what sums in fp64 can feel."""
_SLACK = 1e-6
"""More than fp32 can be off, relative: what a bound in fp32 lets through is judged again in fp64."""


def kept(
    values: Floats, best: float, temperature: float, top_k: int, top_p: float, min_p: float
) -> tuple[Places | range, Doubles]:
    """Places that the cuts leave, ascending, and their chances in fp64, unnormalised, the best one's 1.

    values: [n] logits, the largest of them `best`. min-p first, then top-k, then top-p, each on what the one before
    left; 0, 1 and 0 cut nothing. Of equal values the first is kept.
    """
    places: Places | range = range(len(values))
    if min_p > 0:
        places = _likely(values, best, temperature, math.log(min_p))
        values = values[places]
    if 0 < top_k < len(values):
        found = first(values, top_k)
        places, values = _of(places, found), values[found]
    chances = _chances(values, best, temperature)
    if top_p < 1:
        found = _nucleus(values, chances, temperature, top_p)
        places, chances = _of(places, found), chances[found]
    return places, chances


def draw(chances: Doubles, share: float) -> int:
    """The place where the running sum of `chances` passes `share` (of [0, 1)) of the whole; never one of chance 0."""
    sums = np.add.reduceat(chances, range(0, len(chances), _BLOCK)).cumsum()
    goal = share * sums[-1]
    block = min(int(sums.searchsorted(goal, "right")), int(sums.searchsorted(sums[-1])))
    inside = chances[block * _BLOCK : (block + 1) * _BLOCK]
    place = int(inside.cumsum().searchsorted(goal - (sums[block - 1] if block else 0.0), "right"))
    if place == len(inside):  # the block's own sum was rounded the other way
        place = int(inside.nonzero()[0][-1])
    return block * _BLOCK + place


def first(values: Floats, count: int) -> Places:
    """Places of the `count` largest, of equal ones the first; ascending."""
    if count >= len(values):
        return np.arange(len(values))
    places = np.flatnonzero(values >= _bound(values, count))
    few = values[places]
    edge = np.partition(few, len(few) - count)[len(few) - count]
    above = few > edge
    above[np.flatnonzero(few == edge)[: count - np.count_nonzero(above)]] = True
    return places[above]


def ordered(values: Floats, places: Places) -> Places:
    """`places`, which ascend, by their values, the largest first, of equal ones the first."""
    return places[np.argsort(-values[places], kind="stable")]


def _bound(values: Floats, count: int) -> np.float32:
    """A value that at least `count` reach and, mostly, few more: of so many columns the largest reach it."""
    columns = len(values) // _WIDTH
    if columns < 4 * count:
        return np.partition(values, len(values) - count)[len(values) - count]
    tops = values[: columns * _WIDTH].reshape(_WIDTH, columns).max(0)
    return np.partition(tops, columns - count)[columns - count]


def _likely(values: Floats, best: float, temperature: float, floor: float) -> Places:
    """Places whose chance, as a logarithm beside the best one's, is at least `floor`."""
    bound = best + temperature * floor
    slack = _SLACK * (abs(best) + abs(temperature * floor))
    likely = values >= max(bound - slack, -3e38)
    places = np.flatnonzero(likely)
    if len(places) == np.count_nonzero(values >= min(bound + slack, best)):
        return places
    return places[_scaled(values[places], best, temperature) >= floor]


def _nucleus(values: Floats, chances: Doubles, temperature: float, share: float) -> Places:
    """Places of the fewest chances that sum to `share` of all, largest first; ascending. At least one."""
    goal = share * chances.sum()
    places = ordered(values, first(values, _NUCLEUS))
    sums = chances[places].cumsum()
    if len(places) < len(values) and sums[-1] < goal:
        return _wide_nucleus(values, chances, temperature, goal)
    return np.sort(places[: int(sums.searchsorted(goal)) + 1])


def _wide_nucleus(values: Floats, chances: Doubles, temperature: float, goal: float) -> Places:
    """The same, where many are needed: whole bins of about equal chance, and of one bin those that are still needed."""
    depth = values.max() - values
    with np.errstate(over="ignore"):
        depth *= np.float32(min(_SHARES / temperature, 1e30))
    bins = np.minimum(depth, _SHARES * _DEPTH, out=depth).astype(np.int32)
    sums = np.bincount(bins, weights=chances).cumsum()
    edge = min(int(sums.searchsorted(goal)), len(sums) - 1)
    inside = ordered(values, np.flatnonzero(bins == edge))
    missing = goal - (sums[edge - 1] if edge else 0.0)
    keep = bins < edge
    keep[inside[: int(chances[inside].cumsum().searchsorted(missing)) + 1]] = True
    return np.flatnonzero(keep)


def _scaled(values: Floats, best: float, temperature: float) -> Doubles:
    scaled = values.astype(np.float64)
    scaled -= best
    with np.errstate(over="ignore"):  # at the lowest temperatures all but the best are infinitely far off
        scaled /= temperature
    return scaled


def _chances(values: Floats, best: float, temperature: float) -> Doubles:
    scaled = _scaled(values, best, temperature)
    return np.exp(scaled, out=scaled)


def _of(places: Places | range, found: Places) -> Places:
    return found if isinstance(places, range) else places[found]
