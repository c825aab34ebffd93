"""Conditions that hold for what a call must not be handed, or handles apart: told by the values of calls that fail
and of calls that work, by sibling guards of the file, and by what a statement can't stand."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence, Sized
from dataclasses import dataclass, field
from itertools import permutations

from deskagent.repair.candidates import standing
from deskagent.repair.candidates.base import Place
from deskagent.repair.candidates.handed import Row, handed
from deskagent.repair.values import Unknown

MAX_CONDITIONS, MAX_BOUNDS, MAX_NAMES = 60, 8, 8
CLEAR = 0.75
"""From here on the values of parameters speak so well that little else is likely."""
Test = Callable[..., bool]
Weighted = dict[str, float]

_Column = list[tuple[tuple[object, ...], int]]
"""Values, each once, and how often they are handed in."""


@dataclass(frozen=True)
class Rows:
    """Calls that the condition has to hold for, some or all, and calls that it must not hold for."""

    bad: Sequence[Row]
    good: Sequence[Row]
    every: bool
    _columns: dict[tuple[str, ...], tuple[_Column, _Column]] = field(default_factory=dict, repr=False)

    def handed(self, names: tuple[str, ...]) -> tuple[_Column, _Column]:
        """What is handed in under these names, as far as it is known: by the bad calls, by the good ones."""
        if names not in self._columns:
            self._columns[names] = _column(self.bad, names), _column(self.good, names)
        return self._columns[names]


def _column(rows: Sequence[Row], names: tuple[str, ...]) -> _Column:
    found: dict[str, tuple[tuple[object, ...], int]] = {}
    for row in rows:
        values = tuple(row.values.get(name, _MISSING) for name in names)
        if not any(value is _MISSING or isinstance(value, Unknown) for value in values):
            alike = repr([(type(value), value) for value in values])
            found[alike] = values, found[alike][1] + 1 if alike in found else 1
    return list(found.values())


_MISSING = object()


def _empty(v: object) -> bool:
    return isinstance(v, Sized) and len(v) == 0


def _number(v: object) -> bool:
    return isinstance(v, (int, float)) and not isinstance(v, bool)


# {p} → whether it holds → how likely
ONE: tuple[tuple[str, Test, float], ...] = (
    ("{p} is None", lambda v: v is None, 1.0),
    ("not {p}", lambda v: not v, 0.8),
    ("not {p}.strip()", lambda v: isinstance(v, str) and not v.strip(), 0.8),
    ("len({p}) == 0", _empty, 0.4),
    ("not isinstance({p}, int)", lambda v: not isinstance(v, int), 0.8),
    ("not isinstance({p}, str)", lambda v: not isinstance(v, str), 0.9),
    ("not isinstance({p}, (int, float))", lambda v: not isinstance(v, (int, float)), 0.7),
    ("not isinstance({p}, list)", lambda v: not isinstance(v, list), 0.5),
    ("not isinstance({p}, dict)", lambda v: not isinstance(v, dict), 0.6),
    ("not isinstance({p}, (list, tuple))", lambda v: not isinstance(v, (list, tuple)), 0.5),
    ("not isinstance({p}, bytes)", lambda v: not isinstance(v, bytes), 0.4),
    ("isinstance({p}, bool)", lambda v: isinstance(v, bool), 1.0),
    ("isinstance({p}, str)", lambda v: isinstance(v, str), 0.8),
    ("isinstance({p}, bytes)", lambda v: isinstance(v, bytes), 0.8),
    ("isinstance({p}, (list, tuple))", lambda v: isinstance(v, (list, tuple)), 0.6),
    ("isinstance({p}, list)", lambda v: isinstance(v, list), 0.6),
    ("isinstance({p}, dict)", lambda v: isinstance(v, dict), 0.6),
    ("not {p}.isdigit()", lambda v: isinstance(v, str) and not v.isdigit(), 0.6),
    ("not {p}.isalnum()", lambda v: isinstance(v, str) and not v.isalnum(), 0.35),
    ("not {p}.isalpha()", lambda v: isinstance(v, str) and not v.isalpha(), 0.35),
    ("not {p}.isidentifier()", lambda v: isinstance(v, str) and not v.isidentifier(), 0.4),
    ("{p} != {p}", lambda v: v != v, 0.5),
    ("callable({p})", callable, 0.3),
    ("not callable({p})", lambda v: not callable(v), 0.25),
)
TWO: tuple[tuple[str, Test, float], ...] = (
    ("{p} > {q}", lambda a, b: a > b, 0.8),
    ("{p} >= {q}", lambda a, b: a >= b, 0.7),
    ("{p} == {q}", lambda a, b: a == b, 0.7),
    ("{p} != {q}", lambda a, b: a != b, 0.5),
    ("len({p}) != len({q})", lambda a, b: len(a) != len(b), 0.9),
    ("{p} > len({q})", lambda a, b: a > len(b), 0.6),
    ("{p} >= len({q})", lambda a, b: a >= len(b), 0.6),
    ("{p} not in {q}", lambda a, b: a not in b, 0.7),
    ("{p} in {q}", lambda a, b: a in b, 0.5),
)
BOUNDS: tuple[tuple[str, Callable[[float], Test], float], ...] = (
    ("{p} < {c}", lambda c: lambda v: _number(v) and v < c, 1.0),
    ("{p} <= {c}", lambda c: lambda v: _number(v) and v <= c, 0.9),
    ("{p} > {c}", lambda c: lambda v: _number(v) and v > c, 0.9),
    ("{p} >= {c}", lambda c: lambda v: _number(v) and v >= c, 0.7),
    ("{p} == {c}", lambda c: lambda v: _number(v) and v == c, 0.8),
    ("len({p}) < {c}", lambda c: lambda v: isinstance(v, Sized) and len(v) < c, 0.6),
    ("len({p}) != {c}", lambda c: lambda v: isinstance(v, Sized) and len(v) != c, 0.6),
    ("len({p}) > {c}", lambda c: lambda v: isinstance(v, Sized) and len(v) > c, 0.7),
)


def rejecting(place: Place) -> Weighted:
    """Conditions for an error at the place → how likely; they hold for the calls that an error is wanted of."""
    known = place.memo.get("rejecting")
    if isinstance(known, dict):
        return known
    given = handed(place)
    found = conditions(place, Rows(given.rejected, (*given.passing, *given.failing), every=True))
    place.memo["rejecting"] = found
    return found


def conditions(place: Place, rows: Rows) -> Weighted:
    """Conditions for a way out at the place → how likely, the likeliest MAX_CONDITIONS."""
    found: Weighted = {}
    told = _told_of(place, rows)
    clear = max(told.values(), default=0.0) >= CLEAR
    beside = place.memo.get("beside")
    if not isinstance(beside, tuple):
        beside = place.memo["beside"] = tuple(
            (dict(source(place)), share)
            for source, share in (
                (standing.collections, 0.6),
                (standing.siblings, 0.6),
                (standing.stood, 0.8),
                (standing.own, 0.4),
            )
        )
    for made, share in ((told, 1.0), *beside):
        for text, weight in made.items():
            worth = weight * (share if clear else 1.0)
            if worth > found.get(text, 0.0) and not _there(text, place):
                found[text] = worth
    return dict(sorted(found.items(), key=lambda item: (-item[1], item[0]))[:MAX_CONDITIONS])


def _there(text: str, place: Place) -> bool:
    """Whether the function already asks that right there."""
    return place.statement.text.startswith((f"if {text}:", f"elif {text}:"))


def agreement(test: Test, names: Sequence[str], rows: Rows) -> float:
    """How well a condition goes with the calls, 0 where it is against them; 0.35 where nothing is known."""
    bad, good = rows.handed(tuple(names))
    if any(_holds(test, values) for values, _ in good):
        return 0.0
    held = [(_holds(test, values), times) for values, times in bad]
    if not held:
        return 0.2
    so, all_ = sum(times for holds, times in held if holds), sum(times for _, times in held)
    if not so or (rows.every and so * 2 < all_):
        return 0.0
    return 1.0 if so == all_ or not rows.every else 0.7


def _holds(test: Test, values: tuple[object, ...]) -> bool:
    try:
        return bool(test(*values))
    except (TypeError, ValueError, AttributeError, ZeroDivisionError, OverflowError):
        return False


def _told_of(place: Place, rows: Rows) -> Weighted:
    """As `_told`, once for all places of a function: many ways out are asked of the same calls."""
    known = place.shared.setdefault("told", {})
    key = tuple(map(id, rows.bad)), tuple(map(id, rows.good)), rows.every
    if key not in known:
        # The rows are kept with what is known of them, so that no other gets their identity.
        known[key] = rows, dict(_told(place, rows))
    return known[key][1]


def _told(place: Place, rows: Rows) -> Iterator[tuple[str, float]]:
    """By the values of parameters."""
    names = list(handed(place).parameters)[:MAX_NAMES]
    numbers = _bounds(place)
    for name in names:
        for form, test, weight in ONE:
            fits = agreement(test, [name], rows)
            if fits > 0.3 or (fits and weight >= 0.8 and "isinstance" not in form):
                yield form.format(p=name), weight * fits
        for number in numbers:
            for form, make, weight in BOUNDS:
                fits = agreement(make(number), [name], rows)
                plain = number in (0, 1)
                if fits > 0.3 or (fits and plain and not form.startswith("len")):
                    own = _nearest(form, number, name, rows)
                    yield (
                        form.format(p=name, c=_written(number)),
                        weight * fits * own * (1.0 if plain else 0.8),
                    )
        for low, high in ((a, b) for a in numbers for b in numbers if a < b):
            fits = agreement(lambda v, a=low, b=high: _number(v) and not a <= v <= b, [name], rows)
            if fits > 0.3:
                share = 0.7 if (low, high) in {(0, 1), (0, 100), (1, 12)} else 0.5
                yield f"not {_written(low)} <= {name} <= {_written(high)}", share * fits
                yield f"{name} < {_written(low)} or {name} > {_written(high)}", share * fits
        yield from _letters(name, rows, place)
    for one, other in permutations(names[:5], 2):
        for form, test, weight in TWO:
            fits = agreement(test, [one, other], rows)
            if fits:
                yield form.format(p=one, q=other), weight * fits


def _nearest(form: str, number: float, name: str, rows: Rows) -> float:
    """1 for a bound that the values speak for: as wide as the good ones let it be."""
    good = [v for row in rows.good if _number(v := row.values.get(name))]
    bad = [v for row in rows.bad if _number(v := row.values.get(name))]
    if "<" in form and good and bad and number in {*good, *bad}:
        return 1.0
    return 0.9


def _bounds(place: Place) -> list[float]:
    """0, 1, and the numbers of the function, of the wanted message, and of the calls."""
    found: dict[float, None] = {0: None, 1: None}
    for raised in place.hints.asked.raises:
        for word in raised.message.replace(",", " ").split():
            if word.strip(".:()").isdigit():
                found[int(word.strip(".:()"))] = None
    for node in place.expressions("integer"):
        if node.text.isdigit():
            found[int(node.text)] = None
    for row in handed(place).rejected:
        for value in row.values.values():
            if isinstance(value, int) and not isinstance(value, bool) and abs(value) < 10**9:
                found |= dict.fromkeys((value, value - 1, value + 1))
    return [*found][:MAX_BOUNDS]


def _written(number: float) -> str:
    return repr(number)


def _letters(name: str, rows: Rows, place: Place) -> Iterator[tuple[str, float]]:
    """A sign that the bad texts hold and the good ones don't, or the other way round."""
    bad = [v for row in rows.bad if isinstance(v := row.values.get(name), str)]
    good = [v for row in rows.good if isinstance(v := row.values.get(name), str)]
    if not bad:
        return
    signs = dict.fromkeys(c for text in (*bad, *good) for c in text if not c.isalnum())
    for node in place.expressions("string"):
        sign = node.text[1:-1]
        if node.text[:1] in "'\"" and 0 < len(sign) <= 3 and not sign.isalnum() and "\\" not in sign:
            bad_lack = not any(sign in text for text in bad)
            if bad_lack and all(sign in text for text in good):
                yield f"{sign!r} not in {name}", 0.8
    for sign in [*signs][:6]:
        if all(sign in text for text in bad) and not any(sign in text for text in good):
            yield f"{sign!r} in {name}", 0.7
        if not any(sign in text for text in bad) and good and all(sign in text for text in good):
            yield f"{sign!r} not in {name}", 0.8
