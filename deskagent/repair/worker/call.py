"""A call as it begins: its arguments, itself as text, and calls near it."""

import copy
import inspect
import itertools

from deskagent_worker.show import show
from deskagent_worker.variants import variants

_POOL = 6  # values of a parameter seen in other calls that are tried in this one


class Call:
    """The arguments of a call, as they are when it begins."""

    def __init__(self, frame):
        code, values = frame.f_code, frame.f_locals
        count = code.co_argcount + code.co_kwonlyargcount
        names = code.co_varnames
        self.name = code.co_name
        self.plain = [(name, values[name]) for name in names[: code.co_argcount]]
        self.keyword = [(name, values[name]) for name in names[code.co_argcount : count]]
        self.rest, self.named = (), {}
        if code.co_flags & inspect.CO_VARARGS:
            self.rest = values[names[count]]
            count += 1
        if code.co_flags & inspect.CO_VARKEYWORDS:
            self.named = values[names[count]]

    def arguments(self):
        """Values in the order in which `with_` counts them."""
        return [v for _, v in self.plain + self.keyword] + list(self.rest) + list(self.named.values())

    def names(self):
        return [n for n, _ in self.plain + self.keyword] + ["*"] * len(self.rest) + list(self.named)

    def with_(self, values):
        """This call with other values for its arguments."""
        other = copy.copy(self)
        values = list(values)
        take = iter(values)
        other.plain = [(name, next(take)) for name, _ in self.plain]
        other.keyword = [(name, next(take)) for name, _ in self.keyword]
        other.rest = tuple(next(take) for _ in self.rest)
        other.named = {name: next(take) for name in self.named}
        return other

    def copied(self):
        return self.with_(copy.deepcopy(self.arguments()))

    def make(self, function):
        words = {**dict(self.keyword), **self.named}
        return function(*[v for _, v in self.plain], *self.rest, **words)

    def text(self):
        """The call as one would write it."""
        shown = [show(v) for _, v in self.plain]
        front = ""
        if self.plain and self.plain[0][0] in ("self", "cls"):
            front = shown.pop(0) + "."
        words = ["%s=%s" % (n, show(v)) for n, v in self.keyword + list(self.named.items())]
        return "%s%s(%s)" % (front, self.name, ", ".join(shown + [show(v) for v in self.rest] + words))

    def after(self):
        """The arguments once more: what the call has done to them shows here."""
        return "; ".join(
            "%s=%s" % (n, show(v)) for n, v in zip(self.names(), self.arguments()) if _mutable(v)
        )

    def remember(self, pool):
        """Adds the arguments to the values seen for each parameter."""
        for name, value in self.plain + self.keyword:
            known = pool.setdefault(name, {})
            text = show(value)
            if name not in ("self", "cls") and len(known) < _POOL and "…" not in text:  # small ones
                try:
                    known.setdefault(text, copy.deepcopy(value))
                except Exception:  # what can't be copied can't be handed on
                    continue

    def neighbours(self, pool):
        """Calls that differ from this one in one argument, or in the order of two; the arguments take turns."""
        values = self.arguments()
        rows = []
        for at, name in enumerate(self.names()):
            if name == "cls":
                continue
            own = variants(values[at])
            if name == "self":
                rows.append(own[:8])
                continue
            others = [v for text, v in pool.get(name, {}).items() if text != show(values[at])]
            rows.append(own[:4] + others + own[4:])
        yield from self._swapped(values)
        rows = [[(at, other) for other in row] for at, row in enumerate(rows)]
        for turn in itertools.zip_longest(*rows):
            for choice in turn:
                if choice is not None:
                    at, other = choice
                    yield self.with_(values[:at] + [other] + values[at + 1 :])

    def _swapped(self, values):
        """Two arguments of one type in each other's place."""
        for at in range(len(values) - 1):
            one, two = values[at], values[at + 1]
            if type(one) is type(two) and show(one) != show(two):
                yield self.with_(values[:at] + [two, one] + values[at + 2 :])


def _mutable(value):
    return not isinstance(value, (int, float, complex, str, bytes, type(None), type, range))
