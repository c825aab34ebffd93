"""Who holds which page and which state slot of the pools: counted references, copies on writing."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from torch import Tensor

from engine.cache.pools import Pools
from engine.errors import CapacityError, EngineError


class Memory:
    """The free pages and slots of `pools`, and the number of holders of each page.

    `reclaim`, if set, is asked to give pages back (it gets the number that is short) before an allocation fails.
    Not thread-safe: one thread at a time, as the pools themselves.
    """

    def __init__(self, pools: Pools, pages: int, slots: int) -> None:
        self.pools, self.pages, self.slots = pools, pages, slots
        self.page = pools.page
        """Tokens a page."""
        self.holders = [0] * pages
        self.reclaim: Callable[[int], None] | None = None
        self._free = list(range(pages - 1, -1, -1))
        self._idle = list(range(slots - 1, -1, -1))

    @property
    def free_pages(self) -> int:
        return len(self._free)

    @property
    def free_slots(self) -> int:
        return len(self._idle)

    def take(self, count: int) -> list[int]:
        """`count` pages with one holder each. Errors: CapacityError, and then nothing was taken."""
        short = count - len(self._free)
        if short > 0 and self.reclaim is not None:
            self.reclaim(short)
        if count > len(self._free):
            raise CapacityError(
                f"{count} pages of {self.page} tokens needed, {len(self._free)} of {self.pages} free: end or shorten"
                " other requests, or give the engine more cache memory"
            )
        taken = [self._free.pop() for _ in range(count)]
        for page in taken:
            self.holders[page] = 1
        return taken

    def hold(self, pages: Sequence[int]) -> None:
        """One more holder for each page."""
        for page in pages:
            self.holders[page] += 1

    def drop(self, pages: Sequence[int]) -> None:
        """One holder fewer; pages that nobody holds are free."""
        for page in pages:
            self.holders[page] -= 1
            if self.holders[page] == 0:
                self._free.append(page)

    def take_slot(self) -> int:
        """A state slot with whatever was in it. Errors: CapacityError."""
        if not self._idle:
            raise CapacityError(
                f"all {self.slots} state slots are taken: end other requests or give more slots"
            )
        return self._idle.pop()

    def drop_slot(self, slot: int) -> None:
        self._idle.append(slot)

    def pages_for(self, tokens: int) -> int:
        return -(-tokens // self.page)


class History:
    """What one sequence remembers: `length` tokens in `pages`, and a state in `slot` (None while it has none).

    A new one is empty and its state is that of no tokens.
    """

    __slots__ = ("length", "memory", "pages", "slot")

    def __init__(self, memory: Memory) -> None:
        self.memory = memory
        self.pages: list[int] = []
        self.length = 0
        self.slot: int | None = memory.take_slot()
        memory.pools.clear(self.slot)

    @classmethod
    def of(cls, memory: Memory, pages: Sequence[int], length: int, state: Sequence[Tensor] | None) -> History:
        """A sequence that shares `pages` and starts from a copied `state`; without a state it takes no slot and only
        keeps its pages. Errors: CapacityError without a free slot."""
        made = cls.__new__(cls)
        made.memory, made.length, made.slot = memory, length, None
        if state is not None:
            made.slot = memory.take_slot()
            memory.pools.load_slot(made.slot, state)
        memory.hold(pages)
        made.pages = list(pages)
        return made

    @property
    def state(self) -> int:
        """The slot. Errors: EngineError where there is none: nothing can be computed then."""
        if self.slot is None:
            raise EngineError("a sequence without a state can't go on: it only keeps its pages")
        return self.slot

    def fork(self) -> History:
        """A second sequence with the same past: pages are shared, the state is copied. Errors: CapacityError."""
        used = self.pages[: self.memory.pages_for(self.length)]
        made = History.of(self.memory, used, self.length, None)
        if self.slot is not None:
            try:
                made.slot = self.memory.take_slot()
            except CapacityError:
                made.release()
                raise
            self.memory.pools.copy_slot(self.slot, made.slot)
        return made

    def missing(self, tokens: int) -> int:
        """Pages that room for `tokens` more needs, that of a copied one included."""
        more = self.memory.pages_for(self.length + tokens) - len(self.pages)
        return max(more, 0) + (1 if tokens and self._shared() else 0)

    def reserve(self, tokens: int) -> None:
        """Room for `tokens` more, in pages that nobody else holds. Errors: CapacityError, nothing changed then."""
        missing = self.missing(tokens)
        if not missing:
            return
        taken = self.memory.take(missing)
        if tokens and self._shared():
            old, new = self.pages[self.length // self.memory.page], taken.pop()
            self.memory.pools.copy_page(old, new)
            self.memory.drop([old])
            self.pages[self.length // self.memory.page] = new
        self.pages += taken

    def advance(self, tokens: int) -> None:
        """`tokens` more have been computed."""
        self.length += tokens

    def rewind(self, length: int, slot: int) -> None:
        """Back to `length` tokens and the state that `slot` holds; the own slot is given back."""
        self.drop_slot()
        self.slot, self.length = slot, length
        self.trim()

    def trim(self) -> None:
        """Gives back the pages after the last token's."""
        keep = self.memory.pages_for(self.length)
        self.memory.drop(self.pages[keep:])
        del self.pages[keep:]

    def drop_slot(self) -> None:
        if self.slot is not None:
            self.memory.drop_slot(self.slot)
            self.slot = None

    def release(self) -> None:
        """Gives everything back; twice is once."""
        self.drop_slot()
        self.memory.drop(self.pages)
        self.pages, self.length = [], 0

    def _shared(self) -> bool:
        """Whether the partly filled page, which the next token goes into, has other holders."""
        partly = self.length % self.memory.page
        return partly > 0 and self.memory.holders[self.pages[self.length // self.memory.page]] > 1
