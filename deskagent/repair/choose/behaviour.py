"""Signs in what patches do on inputs beyond the tests' assertions, and which patches do the same."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from deskagent.repair.choose.differ import Behaviour, Key, Try
from deskagent.repair.choose.types import Sign

_BAD = frozenset({"raises", "hangs", "dies"})


@dataclass(frozen=True)
class Comparison:
    """The behaviour of the patches `numbers` beside that of the unedited code."""

    behaviour: Behaviour
    numbers: Sequence[int]

    @cached_property
    def seen(self) -> list[int]:
        """The patches whose behaviour is known."""
        return [n for n in self.numbers if n in self.behaviour.observed]

    @cached_property
    def keys(self) -> list[Key]:
        """Inputs that all of them and the unedited code met."""
        return self.behaviour.shared([0, *self.seen]) if self.seen and 0 in self.behaviour.observed else []

    def at(self, number: int, key: Key) -> Try:
        return self.behaviour.observed[number][key]

    @cached_property
    def clusters(self) -> Mapping[int, int]:
        """Patch → cluster; patches of one cluster do the same on every input."""
        shapes: dict[object, int] = {}
        return {
            n: shapes.setdefault(tuple(self.at(n, key).effect for key in self.keys), len(shapes) + 1)
            for n in self.seen
            if self.keys
        }

    def signs(self) -> dict[int, list[Sign]]:
        """All of them, by patch."""
        found: dict[int, list[Sign]] = defaultdict(list)
        for of in (self._kept, self._agrees, self._breaks, self._types, self._spoils):
            for number, sign in of():
                found[number].append(sign)
        return found

    def _kept(self) -> Iterator[tuple[int, Sign]]:
        shares = {
            n: _share([self.at(n, k).effect == self.at(0, k).effect for k in self.keys]) for n in self.seen
        }
        yield from _against_best("kept", shares, "changes more of what the unedited code does")

    def _agrees(self) -> Iterator[tuple[int, Sign]]:
        """On each input the clusters vote; a cluster has one voice however many patches are in it."""
        one_of = {c: n for n, c in reversed([*self.clusters.items()])}
        if len(one_of) < 3:
            return
        votes = {k: Counter(self.at(n, k).effect for n in one_of.values()) for k in self.keys}
        telling = [k for k in self.keys if len(votes[k]) > 1]
        shares = {
            n: _share([votes[k][self.at(n, k).effect] / len(one_of) for k in telling]) for n in self.seen
        }
        yield from _against_best("agrees", shares, "stands alone among the patches that pass")

    def _breaks(self) -> Iterator[tuple[int, Sign]]:
        def broken(number: int, key: Key) -> bool:
            before, after = self.at(0, key), self.at(number, key)
            return after.kind in _BAD and before.kind == "returns"

        shares = {n: _share([broken(n, k) for k in self.keys]) for n in self.seen}
        least = min(shares.values(), default=0.0)
        for number, share in shares.items():
            if share > least:
                key = next(k for k in self.keys if broken(number, k))
                yield number, Sign("breaks", share - least, f"{key[1]} newly {_ends(self.at(number, key))}")

    def _types(self) -> Iterator[tuple[int, Sign]]:
        """Only the types that passing tests saw are known to be meant, so functions that they don't call are out."""
        known: dict[object, set[str]] = defaultdict(set)
        for key in self.keys:
            before = self.at(0, key)
            if before.kind == "returns":
                known[key[0]].add(before.type)
                if "none" in self.behaviour.uses.get(key[0], ()):  # callers are ready for it
                    known[key[0]].add("NoneType")
        common = {
            (k[0], self.at(self.seen[0], k).type) for k in self.keys
            if len({self.at(n, k).type for n in self.seen}) == 1
        }  # fmt: skip
        for number in self.seen:
            for key in self.keys:
                one = self.at(number, key)
                fresh = one.kind == "returns" and known[key[0]] and one.type not in known[key[0]]
                if fresh and (key[0], one.type) not in common:
                    yield number, Sign("types", 1, f"{key[1]} returns {one.type}")
                    break

    def _spoils(self) -> Iterator[tuple[int, Sign]]:
        def spoiled(number: int, key: Key) -> bool:
            before, after = self.at(0, key), self.at(number, key)
            return before.kind == after.kind and before.out == after.out and before.after != after.after

        shares = {n: _share([spoiled(n, k) for k in self.keys]) for n in self.seen}
        least = min(shares.values(), default=0.0)
        for number, share in shares.items():
            if share > least:
                key = next(k for k in self.keys if spoiled(number, k))
                yield (
                    number,
                    Sign("spoils", share - least, f"{key[1]} leaves {self.at(number, key).after[:80]}"),
                )


def _against_best(name: str, shares: Mapping[int, float], text: str) -> Iterator[tuple[int, Sign]]:
    best = max(shares.values(), default=0.0)
    for number, share in shares.items():
        if share < best:
            yield number, Sign(name, share - best, text)


def _share(values: Sequence[float]) -> float:
    return sum(values) / len(values) if values else 0.0


def _ends(one: Try) -> str:
    return f"raises {one.out}" if one.kind == "raises" else one.kind
