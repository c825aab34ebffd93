"""The model's Markdown, streamed. Links and pictures lead nowhere by themselves, and their addresses are visible."""

from __future__ import annotations

from functools import cache
from typing import ClassVar

from markdown_it import MarkdownIt
from markdown_it.rules_core import StateCore
from markdown_it.token import Token
from textual import on
from textual.widgets import Markdown
from textual.widgets.markdown import MarkdownStream

from ui.log.items import Words


class WordsView(Markdown):
    """An answer's text."""

    BULLETS: ClassVar[list[str]] = ["• "] * 5

    def __init__(self, item: Words) -> None:
        super().__init__(item.text, parser_factory=parser, open_links=False)
        self.item = item
        self._stream: MarkdownStream | None = None

    def on_mount(self) -> None:
        self.display = bool(self.item.text.strip())

    async def show(self, item: Words) -> None:
        """The item as it is now: what was added is streamed."""
        before, self.item = self.item, item
        self.display = bool(item.text.strip())
        if not item.text.startswith(before.text):
            await self._stop()
            await self.update(item.text)
        elif more := item.text[len(before.text) :]:
            if self._stream is None:
                self._stream = self.get_stream(self)
            await self._stream.write(more)
        if not item.live:
            await self._stop()

    def toggle(self, open: bool | None = None) -> None:
        """Nothing is folded here."""

    async def _stop(self) -> None:
        stream, self._stream = self._stream, None
        if stream is not None:
            await stream.stop()

    @on(Markdown.LinkClicked)
    def _told(self, event: Markdown.LinkClicked) -> None:
        event.stop()
        self.app.copy_to_clipboard(event.href)
        self.notify("The address was copied; nothing was opened.", markup=False)


@cache
def parser() -> MarkdownIt:
    made = MarkdownIt("gfm-like", {"html": False})
    made.core.ruler.push("addresses", _addresses)
    return made


def _addresses(state: StateCore) -> None:
    """Puts the address behind each link and picture that doesn't show it."""
    for token in state.tokens:
        if token.type == "inline" and token.children:
            token.children = _with_addresses(token.children)


def _with_addresses(children: list[Token]) -> list[Token]:
    made: list[Token] = []
    opened = 0
    for child in children:
        made.append(child)
        if child.type == "link_open":
            opened = len(made) - 1
        elif child.type == "link_close":
            href = str(made[opened].attrs.get("href", ""))
            shown = "".join(each.content for each in made[opened:])
            made += _address(href) if href.removeprefix("mailto:") not in shown else []
        elif child.type == "image":
            made += _address(str(child.attrs.get("src", "")))
    return made


def _address(href: str) -> list[Token]:
    return [Token("text", "", 0, content=f" ({href})")]
