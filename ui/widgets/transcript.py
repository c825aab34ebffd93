"""The transcript: of a session's items only those near what is looked at are mounted."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
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
    """Shows a fold, and follows its end until the person scrolls away from it."""

    class Reached(Message):
        """An end of what is mounted is near."""

    def __init__(self) -> None:
        super().__init__(id="transcript")
        self._fold = Listed()
        self._first = self._last = self._known = 0
        self._views: dict[str, View] = {}
        self._open = False
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
        async with self._lock:
            await self.remove_children("ItemView")
            await self.remove_children("WordsView")
            self._fold, self._views = fold, {}
            fold.seen()
            await self._mount_end()
            self._say_earlier()
        self.anchor()

    async def fresh(self) -> None:
        """Shows what is new in the fold."""
        async with self._lock:
            fold = self._fold
            changed, moved = fold.changed, fold.moved
            fold.seen()
            if moved:
                await self._take_out()
            for key in changed:
                item, shown = fold.get(key), self._views.get(key)
                if item is not None and shown is not None:
                    await shown.show(item)  # pyright: ignore[reportArgumentType]
            at_end, self._known = self._last >= self._known, len(fold.items)
            if at_end and self._last < self._known:
                new = fold.items[self._last :]
                if len(new) > _MOST:
                    new = new[-_STEP:]
                    await self._clear()
                    self._first = self._known - len(new)
                self._last = self._known
                await self._mount(new)
                if not self._anchor_released:
                    await self._let_go(self._first, len(self._views) - _MOST)
            self._say_earlier()

    async def show_start(self) -> None:
        """Goes to the session's first item."""
        async with self._lock:
            await self._clear()
            self._first, self._last = 0, min(_STEP, len(self._fold.items))
            await self._mount(self._fold.items[: self._last])
            self._say_earlier()
        self.call_after_refresh(self.scroll_home, animate=False)

    async def show_end(self) -> None:
        if self._last < len(self._fold.items):
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
        below = new_value >= self.max_scroll_y - _NEAR and self._last < len(self._fold.items)
        if above or below:
            self.post_message(self.Reached())

    @on(Reached)
    async def _mount_more(self) -> None:
        if self._lock.locked():
            return
        async with self._lock:
            if self.scroll_y <= _NEAR and self._first > 0:
                await self._mount_earlier()
            elif self.scroll_y >= self.max_scroll_y - _NEAR and self._last < len(self._fold.items):
                await self._mount_later()
            self._say_earlier()

    async def _mount_earlier(self) -> None:
        stays = self._views[self._fold.items[self._first].key]
        from_top = stays.virtual_region.y - self.scroll_y
        start = max(0, self._first - _STEP)
        await self._mount(self._fold.items[start : self._first], before=stays)
        self._first = start
        over = len(self._views) - _MOST
        if over > 0:
            await self._let_go(self._last - over, over)
        self.call_after_refresh(self._keep_place, stays, from_top)

    async def _mount_later(self) -> None:
        stays = self._views[self._fold.items[self._last - 1].key]
        from_top = stays.virtual_region.y - self.scroll_y
        end = min(len(self._fold.items), self._last + _STEP)
        await self._mount(self._fold.items[self._last : end])
        self._last = end
        await self._let_go(self._first, len(self._views) - _MOST)
        self.call_after_refresh(self._keep_place, stays, from_top)

    def _keep_place(self, stays: View, from_top: float) -> None:
        """What was looked at stays where it was on the screen."""
        if stays.is_mounted:
            self.scroll_to(y=stays.virtual_region.y - from_top, animate=False, force=True)

    async def _mount_end(self) -> None:
        """The fold's last items, where nothing is mounted."""
        self._known = self._last = len(self._fold.items)
        self._first = max(0, self._last - _STEP)
        await self._mount(self._fold.items[self._first :])

    async def _mount(self, items: Sequence[Item], before: View | None = None) -> None:
        if not items:
            return
        from ui.widgets.item import view

        made = [view(item, open=self._open) for item in items]
        for shown in made:
            self._views[shown.item.key] = shown
        await self.mount_all(made, before=before)

    async def _let_go(self, start: int, count: int) -> None:
        """Unmounts `count` items from `start`, which are at an end of what is mounted."""
        if count <= 0:
            return
        keys = [item.key for item in self._fold.items[start : start + count]]
        await self._remove([self._views.pop(key) for key in keys])
        if start == self._first:
            self._first += count
        else:
            self._last -= count

    async def _remove(self, views: list[View]) -> None:
        with self.app.batch_update():
            for shown in views:
                await shown.remove()

    async def _clear(self) -> None:
        views, self._views = list(self._views.values()), {}
        await self._remove(views)

    async def _take_out(self) -> None:
        """Unmounts what isn't in the fold any more."""
        fold = self._fold
        gone = [key for key in self._views if fold.get(key) is None]
        await self._remove([self._views.pop(key) for key in gone])
        at = [fold.index(key) for key in self._views]
        if at:
            self._first, self._last = min(at), max(at) + 1
            self._known = self._last
        else:
            await self._mount_end()

    def _say_earlier(self) -> None:
        self._earlier.display = self._first > 0
        self._hello.display = not any(item.of_conversation for item in self._fold.items[:50])
        if self._first:
            self._earlier.update(f"↑ {self._first:,} earlier")
