"""The transcript: of a session's items only those near what is looked at are mounted."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from textual import on
from textual.containers import VerticalScroll
from textual.message import Message
from textual.widgets import Static

from ui.log.listed import Listed

if TYPE_CHECKING:  # at run time with the first items: the app is on the screen by then
    from ui.log.items import Item
    from ui.widgets.item import ItemView, View

_STEP, _MOST = 40, 160
"""Items that are mounted at a time, and at most."""
_NEAR = 3
"""Lines from an end at which more is mounted."""
_HELLO = """\
deskagent

Say what is to be done in this folder.
@ names a file · / is a command · ! runs a shell line
Shift+Tab changes what may happen unasked · F1 shows all keys"""
"""What stands there before anything is said."""


class Transcript(VerticalScroll, can_focus=False):
    """Shows a fold, and follows its end until the person scrolls away from it.

    The fold goes on while views are mounted and unmounted, and nobody waits for that. So no place in it is kept: each
    change looks where the fold holds what is mounted now, and decides on a range of its items, which `_lay` mounts.
    """

    class Reached(Message):
        """An end of what is mounted is near."""

    def __init__(self) -> None:
        super().__init__(id="transcript")
        self._fold = Listed()
        self._views: dict[str, View] = {}
        """By their items' keys, in order."""
        self._first, self._ended = 0, True
        """How many items came before those that were laid last, and whether the fold's last one was among them."""
        self._open = self._missed = False
        self._lock = asyncio.Lock()
        self._earlier = Static(id="earlier", markup=False)
        self._hello = Static(_HELLO, id="hello", markup=False)

    def compose(self):
        yield self._hello
        yield self._earlier

    def on_mount(self) -> None:
        self._earlier.display = False
        self.anchor()

    async def read(self, fold: Listed) -> None:
        """Shows another session, from its end."""
        async with self._changing():
            if fold is not self._fold:
                await self._lay(0, 0)
                self._fold = fold
            await self._lay(len(fold.items) - _STEP, len(fold.items))
        self.anchor()

    async def fresh(self) -> None:
        """Shows what is new in the fold."""
        async with self._changing():
            first, last = self._range()
            if self._anchor_released:
                last = min(last, first + _MOST)
            else:
                first = max(first, last - _MOST)
                if not any(at >= first for at in self._places(self._views)):
                    first = last - _STEP
            await self._lay(first, last)

    async def show_start(self) -> None:
        """Goes to the session's first item."""
        async with self._changing():
            self.scroll_home(animate=False, immediate=True)
            await self._lay(0, _STEP)
        self.call_after_refresh(self.scroll_home, animate=False)

    async def show_end(self) -> None:
        if not self._ended:
            await self.read(self._fold)
        self.anchor()

    def unfold_all(self) -> None:
        """Unfolds everything that is mounted and comes from here on, or folds it."""
        self._open = not self._open
        for shown in self._views.values():
            shown.toggle(self._open)

    def works(self) -> list[ItemView]:
        """Calls that are mounted, in order."""
        if not self._views:
            return []
        from ui.log.items import Work
        from ui.widgets.item import ItemView

        return [v for v in self.query(ItemView) if isinstance(v.item, Work)]

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        super().watch_scroll_y(old_value, new_value)
        above = new_value <= _NEAR and self._first > 0 and new_value < old_value
        below = new_value >= self.max_scroll_y - _NEAR and not self._ended
        if above or below:
            self.post_message(self.Reached())

    @on(Reached)
    async def _mount_more(self) -> None:
        if self._lock.locked():
            self._missed = True
            return
        async with self._changing():
            first, last = self._range()
            if self.scroll_y <= _NEAR and first > 0:
                first = max(0, first - _STEP)
                await self._lay_around(self._views, first, min(last, first + _MOST))
            elif self.scroll_y >= self.max_scroll_y - _NEAR and not self._ended:
                last = min(last + _STEP, len(self._fold.items))
                await self._lay_around(reversed(self._views), max(first, last - _MOST), last)

    async def _lay_around(self, keys: Iterable[str], first: int, last: int) -> None:
        """Lays, and the first of these that is on the screen stays where it is there."""
        held = None
        for key in keys:
            shown = self._views[key]
            if (region := shown.virtual_region) and self._fold.index(key) is not None:
                held = shown, region.y - self.scroll_y
                break
        await self._lay(first, last)
        if held is not None:
            self.call_after_refresh(self._put, *held)

    def _put(self, shown: View, from_top: float) -> None:
        if shown.is_mounted:
            self.scroll_to(y=shown.virtual_region.y - from_top, animate=False, force=True)

    @asynccontextmanager
    async def _changing(self) -> AsyncIterator[None]:
        """One at a time changes what is mounted."""
        async with self._lock:
            yield
            self._say_earlier()
        if self._missed:
            self._missed = False
            self.post_message(self.Reached())

    def _places(self, keys: Iterable[str]) -> list[int]:
        """Where the fold holds those of these that aren't gone."""
        return [at for key in keys if (at := self._fold.index(key)) is not None]

    def _range(self) -> tuple[int, int]:
        """From where to where the fold's items are mounted or to be: as it is now, up to its end if that was shown."""
        count, places = len(self._fold.items), self._places(self._views)
        if self._ended or not places:
            return max(0, min([self._first, count - _STEP, *places])), count
        return min(self._first, *places), max(places) + 1

    async def _lay(self, first: int, last: int) -> None:
        """Mounts the fold's items from `first` to `last`, unmounts all others, and shows those that are other than they
        were. Both may lie beyond its ends. What the fold becomes meanwhile is for the next time."""
        first, count = max(0, first), len(self._fold.items)
        items = self._fold.items[first:last]
        self._first, self._ended = first, last >= count
        stay: dict[str, View] = {}
        places, reached = {item.key: at for at, item in enumerate(items)}, -1
        for key, shown in self._views.items():
            at = places.get(key, -1)
            if at > reached and type(shown.item) is type(items[at]):
                stay[key], reached = shown, at
        gone = [shown for key, shown in self._views.items() if key not in stay]
        self._views = {item.key: stay.get(item.key) or self._made(item) for item in items}
        other = [(stay[item.key], item) for item in items if item.key in stay]
        with self.app.batch_update():
            mounting = [self.mount_all(made, before=before) for made, before in _runs(self._views, stay)]
            await self.remove_children(gone)
            for each in mounting:
                await each
        for shown, item in other:
            if shown.item is not item:
                await shown.show(item)  # pyright: ignore[reportArgumentType]

    def _made(self, item: Item) -> View:
        from ui.widgets.item import view

        return view(item, open=self._open)

    def _say_earlier(self) -> None:
        self._earlier.display = self._first > 0
        self._hello.display = not any(item.of_conversation for item in self._fold.items[:50])
        if self._first:
            self._earlier.update(f"↑ {self._first:,} earlier")


def _runs(views: dict[str, View], stay: dict[str, View]) -> list[tuple[list[View], View | None]]:
    """The views that are to be mounted, with the one that stays and comes next; None at the end."""
    runs: list[tuple[list[View], View | None]] = []
    made: list[View] = []
    for key, shown in views.items():
        if key not in stay:
            made.append(shown)
        elif made:
            runs.append((made, shown))
            made = []
    return [*runs, (made, None)] if made else runs
