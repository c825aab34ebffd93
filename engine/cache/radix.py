"""A radix tree: values at sequences of numbers, found by the longest beginning."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Generic, TypeVar

V = TypeVar("V")


class _Node(Generic[V]):
    __slots__ = ("edge", "next", "value")

    def __init__(self, edge: list[int], value: V | None = None) -> None:
        self.edge, self.value = edge, value
        self.next: dict[int, _Node[V]] = {}


class Radix(Generic[V]):
    """Paths that share a beginning share its nodes; a node without a value has at least two ways on."""

    def __init__(self) -> None:
        self._root: _Node[V] = _Node([])

    def set(self, key: Sequence[int], value: V) -> None:
        node, at = self._root, 0
        while at < len(key):
            following = node.next.get(key[at])
            if following is None:
                node.next[key[at]] = _Node(list(key[at:]), value)
                return
            same = shared(following.edge, key, at)
            if same < len(following.edge):
                upper: _Node[V] = _Node(following.edge[:same])
                following.edge = following.edge[same:]
                upper.next[following.edge[0]] = following
                node.next[key[at]] = upper
                following = upper
            node, at = following, at + same
        node.value = value

    def get(self, key: Sequence[int]) -> V | None:
        """The value at exactly this key."""
        found = None
        for length, value in self.path(key):
            found = value if length == len(key) else None
        return found

    def path(self, key: Sequence[int]) -> Iterator[tuple[int, V]]:
        """(length, value) of every beginning of `key` that has one, shortest first."""
        for node, end in self._walk(key):
            if node.value is not None:
                yield end, node.value

    def known(self, key: Sequence[int]) -> int:
        """How many numbers of `key` some stored key begins with."""
        end, node = 0, self._root
        for node, end in self._walk(key):  # noqa: B007
            pass
        following = node.next.get(key[end]) if end < len(key) else None
        return end if following is None else end + shared(following.edge, key, end)

    def remove(self, key: Sequence[int]) -> None:
        """Takes the value at `key` away. Errors: KeyError where there is none."""
        nodes = [node for node, _ in self._walk(key)]
        if not nodes or self.get(key) is None:
            raise KeyError("nothing is stored there")
        node = nodes[-1]
        parent = nodes[-2] if len(nodes) > 1 else self._root
        node.value = None
        if not node.next:
            if node is not self._root:
                del parent.next[node.edge[0]]
                self._join(parent)
        else:
            self._join(node)

    def _join(self, node: _Node[V]) -> None:
        """A node without value and with one way on becomes that way."""
        if node is self._root or node.value is not None or len(node.next) != 1:
            return
        (only,) = node.next.values()
        node.edge, node.value, node.next = node.edge + only.edge, only.value, only.next

    def _walk(self, key: Sequence[int]) -> Iterator[tuple[_Node[V], int]]:
        """Nodes whose whole path `key` begins with, and their path's length; the root first."""
        node, at = self._root, 0
        yield node, 0
        while at < len(key):
            following = node.next.get(key[at])
            if following is None or shared(following.edge, key, at) < len(following.edge):
                return
            node, at = following, at + len(following.edge)
            yield node, at


def shared(edge: list[int], key: Sequence[int], at: int) -> int:
    """How many numbers `edge` and `key[at:]` have in common at their beginning."""
    most = min(len(edge), len(key) - at)
    if edge[:most] == list(key[at : at + most]):
        return most
    low, high = 0, most  # by halves: slices compare fast, single numbers don't
    while low < high:
        middle = (low + high + 1) // 2
        if edge[low:middle] == list(key[at + low : at + middle]):
            low = middle
        else:
            high = middle - 1
    return low
