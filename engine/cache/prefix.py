"""The prefix cache: beginnings of texts that needn't be computed again, in the pools, in main memory, on disk.

A radix tree over token ids leads to entries. An entry is a place where the recurrent states were kept: the state there
and the pages since the entry before it, so that an answer can go on from exactly there.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from torch import Tensor

from engine.cache.disk import Folder, Header
from engine.cache.pages import History, Memory
from engine.cache.radix import Radix
from engine.errors import CapacityError

SHARE = 0.5
"""Bytes of regular snapshots to bytes of pages in a long prompt."""
SPARSEST = 1 << 16
"""Tokens between regular snapshots, at most."""


class Entry:
    """tokens: those since `parent`'s. pages: in the pools, the first one partly the parent's, or None. content: pages
    copied out of the pools, or None. state: the slot's tensors, or None if only the file has them."""

    __slots__ = (
        "children",
        "content",
        "file",
        "length",
        "pages",
        "parent",
        "pinned",
        "state",
        "tokens",
        "used",
    )

    def __init__(self, parent: Entry | None, tokens: list[int], length: int) -> None:
        self.parent, self.tokens, self.length = parent, tokens, length
        self.children: set[Entry] = set()
        self.pages: list[int] | None = None
        self.content: list[Tensor] | None = None
        self.state: list[Tensor] | None = None
        self.file: Header | None = None
        self.used = 0
        self.pinned = False

    @property
    def start(self) -> int:
        """Tokens before this entry's own."""
        return self.parent.length if self.parent else 0

    @property
    def ram(self) -> int:
        return sum(tensor.nbytes for tensor in (*(self.content or ()), *(self.state or ())))

    def chain(self) -> list[Entry]:
        """From the first to this one."""
        found: list[Entry] = []
        entry: Entry | None = self
        while entry is not None:
            found.append(entry)
            entry = entry.parent
        return found[::-1]

    def key(self) -> list[int]:
        return [token for entry in self.chain() for token in entry.tokens]


class PrefixCache:
    """Entries of one model's `memory`. What wasn't used longest goes first: from the pools to main memory (`ram`
    bytes, snapshots included), from there to files in `folder` (`disk` bytes), from there for good.

    Sets itself as the memory's `reclaim`.
    """

    def __init__(self, memory: Memory, ram: int, folder: Folder | None = None, disk: int = 0) -> None:
        self.memory, self.ram_budget, self.disk_budget = memory, ram, disk
        self.folder = folder if disk > 0 else None
        self.interval = _interval(memory)
        self.ram = self.disk = 0
        self._tree: Radix[Entry] = Radix()
        self._entries: set[Entry] = set()
        self._clock = 0
        memory.reclaim = self._reclaim
        self._open()

    @property
    def count(self) -> int:
        """Entries in all tiers."""
        return len(self._entries)

    def find(self, keys: Sequence[int], most: int) -> tuple[History, int]:
        """A sequence that goes on from the longest kept beginning of at most `most` tokens, empty if there is none;
        and how far `keys` are known at all. Errors: CapacityError without a free slot."""
        known = min(self._tree.known(keys), most)
        candidates = [entry for length, entry in self._tree.path(keys) if length <= most]
        while candidates:
            entry = candidates.pop()
            history = self._resume(entry) if entry in self._entries else None
            if history is not None:
                return history, known
        return History(self.memory), known

    def store(self, keys: Sequence[int], history: History) -> None:
        """Keeps the state and the pages of `history`, whose tokens `keys` are. Known ones are only touched."""
        if not keys or history.slot is None:
            return
        parent = None
        for length, entry in self._tree.path(keys):
            if length == len(keys):
                self._touch(entry)
                return
            parent = entry
        start = parent.length if parent else 0
        entry = Entry(parent, list(keys[start:]), len(keys))
        entry.pages = history.pages[start // self.memory.page : self.memory.pages_for(len(keys))]
        self.memory.hold(entry.pages)
        entry.state = self.memory.pools.save_slot(history.slot)
        self._add(entry)
        self._fit()

    def flush(self) -> None:
        """Writes what no file holds yet, the last used first; what goes beyond the budget is left out."""
        if self.folder is None:
            return
        for entry in sorted(self._entries, key=lambda entry: (-entry.used, entry.length)):
            if entry.file is None and self.disk + self._size(entry) <= self.disk_budget:
                self._write(entry)

    def clear(self) -> None:
        """Forgets all entries; files stay."""
        for entry in list(self._entries):
            entry.file = None
            self._forget(entry)
        self.disk = 0

    # moving between the tiers

    def _resume(self, entry: Entry) -> History | None:
        """A sequence that goes on from an entry, brought into the pools with all before it. None if it can't be;
        what is damaged is forgotten."""
        chain = entry.chain()
        for part in chain:
            part.pinned = True
        try:
            if not all(self._read(part) and self._place(part) for part in chain):
                return None
            pages: list[int] = []
            for part in chain:
                pages[part.start // self.memory.page :] = part.pages or []
            history = History.of(self.memory, pages, entry.length, entry.state)
        finally:
            for part in chain:
                part.pinned = False
        self._touch(entry)
        self._fit()
        return history

    def _read(self, entry: Entry) -> bool:
        """The parts that only the file has, into main memory."""
        if entry.state is not None and (entry.pages is not None or entry.content is not None):
            return True
        tensors = self.folder.read(entry.file) if self.folder and entry.file else None
        if tensors is None:
            self._lost_file(entry)
            self._forget(entry)
            return False
        self.ram -= entry.ram
        kinds = len(self.memory.pools.latents) + len(self.memory.pools.keys)
        entry.content, entry.state = tensors[:kinds], tensors[kinds:]
        if entry.pages is not None:
            entry.content = None
        self.ram += entry.ram
        return True

    def _place(self, entry: Entry) -> bool:
        """Pages in the pools for an entry that is in main memory."""
        if entry.pages is not None:
            return True
        count = self.memory.pages_for(entry.length) - entry.start // self.memory.page
        try:
            pages = self.memory.take(count)
        except CapacityError:
            return False
        self.memory.pools.load_pages(pages, entry.content or [])
        self.ram -= entry.ram
        entry.pages, entry.content = pages, None
        self.ram += entry.ram
        return True

    def _reclaim(self, short: int) -> None:
        """Gives `short` pages back, of the entries that weren't used longest."""
        goal = self.memory.free_pages + short
        for entry in self._oldest():
            if self.memory.free_pages >= goal:
                break
            if entry.pages is None or entry.pinned or entry not in self._entries:
                continue
            if entry.file is None and entry.content is None:
                entry.content = self.memory.pools.save_pages(entry.pages)
                self.ram += sum(tensor.nbytes for tensor in entry.content)
            self.memory.drop(entry.pages)
            entry.pages = None
            self._fit()

    def _fit(self) -> None:
        """Main memory back within its budget."""
        for entry in self._oldest():
            if self.ram <= self.ram_budget:
                return
            if entry.pinned or not entry.ram or entry not in self._entries:
                continue
            if entry.file is None and not self._write(entry):
                self._forget(entry)
                continue
            self.ram -= entry.ram
            entry.content = entry.state = None
            if entry.pages is not None:
                self.memory.drop(entry.pages)
                entry.pages = None

    def _write(self, entry: Entry) -> bool:
        """A file of an entry, and those before it. False where there is no folder, room or luck."""
        if self.folder is None:
            return False
        if entry.parent is not None and entry.parent.file is None and not self._write(entry.parent):
            return False
        size = self._size(entry)
        if size > self.disk_budget or entry.state is None:
            return False
        pages = entry.content
        if pages is None:
            pages = self.memory.pools.save_pages(entry.pages or [])
        parent = entry.parent.file.name if entry.parent and entry.parent.file else ""
        try:
            entry.file = self.folder.write(parent, entry.tokens, entry.length, [*pages, *entry.state])
        except OSError:  # a full disk costs time later, nothing else
            return False
        self.disk += entry.file.size
        self._fit_disk()
        return entry.file is not None

    def _fit_disk(self) -> None:
        for entry in self._oldest():
            if self.disk <= self.disk_budget:
                return
            if entry.file is None or entry.pinned or any(child.file for child in entry.children):
                continue
            if self.folder is not None:
                self.folder.delete(entry.file)
            self._lost_file(entry)
            if entry.state is None:
                self._forget(entry)

    def _lost_file(self, entry: Entry) -> None:
        if entry.file is not None:
            self.disk -= entry.file.size
            entry.file = None

    # the tree

    def _add(self, entry: Entry) -> None:
        self._tree.set(entry.key(), entry)
        self._entries.add(entry)
        if entry.parent is not None:
            entry.parent.children.add(entry)
        self.ram += entry.ram
        self._touch(entry)

    def _forget(self, entry: Entry) -> None:
        """Takes an entry out, with all that need it."""
        for child in list(entry.children):
            self._forget(child)
        if entry not in self._entries:
            return
        self._tree.remove(entry.key())
        self._entries.remove(entry)
        if entry.parent is not None:
            entry.parent.children.discard(entry)
        self.ram -= entry.ram
        if entry.pages is not None:
            self.memory.drop(entry.pages)
        if entry.file is not None and self.folder is not None:
            self.folder.delete(entry.file)
            self._lost_file(entry)
        entry.pages = entry.content = entry.state = None

    def _touch(self, entry: Entry) -> None:
        """Used now, and with it all that it needs."""
        self._clock += 1
        for part in entry.chain():
            part.used = self._clock

    def _oldest(self) -> Iterator[Entry]:
        """Entries, the longest unused first, of equals the deepest: so children come before what they need."""
        return iter(sorted(self._entries, key=lambda entry: (entry.used, -entry.length)))

    def _size(self, entry: Entry) -> int:
        """About the bytes of an entry's file."""
        pages = self.memory.pages_for(entry.length) - entry.start // self.memory.page
        return (
            pages * self.memory.pools.page_bytes() + self.memory.pools.slot_bytes() + 12 * len(entry.tokens)
        )

    def _open(self) -> None:
        """Entries for the files of earlier runs; those whose beginning is gone go too."""
        if self.folder is None:
            return
        named: dict[str, Entry] = {}
        for header in self.folder.headers():
            parent = named.get(header.parent)
            whole = parent is not None if header.parent else True
            start = parent.length if parent else 0
            if not whole or header.length != start + len(header.tokens) or not self._fits(header, start):
                self.folder.delete(header)
                continue
            entry = Entry(parent, header.tokens, header.length)
            entry.file = header
            named[header.name] = entry
            self.disk += header.size
            self._add(entry)
        for entry in sorted(named.values(), key=lambda entry: entry.file.used if entry.file else 0):
            self._touch(entry)
        self._fit_disk()

    def _fits(self, header: Header, start: int) -> bool:
        """Whether a file's tensors have the shapes that the pools ask for."""
        pools = self.memory.pools
        count = self.memory.pages_for(header.length) - start // self.memory.page
        pages = [
            (str(pool.dtype), (count, *pool.shape[1:]))
            for pool in (*pools.latents.values(), *pools.keys.values())
        ]
        states = [
            (str(pool.dtype), tuple(pool.shape[1:]))
            for pool in (*pools.states.values(), *pools.convs.values())
        ]
        return header.shapes == [*pages, *states]


def _interval(memory: Memory) -> int:
    """Tokens between regular snapshots: as many as make their bytes SHARE of the pages'."""
    page = memory.pools.page_bytes()
    if page == 0:
        return SPARSEST
    pages = -(-memory.pools.slot_bytes() // max(int(page * SHARE), 1))
    return min(max(pages, 1) * memory.page, SPARSEST)
