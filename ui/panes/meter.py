"""How full the context is and what it is spent on, and what the project's index holds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.content import Content
from textual.message import Message
from textual.widgets import Static

from deskagent.repo.index import State, Status
from ui.log.inert import inert

_KINDS = {
    "head": "instructions and tools",
    "said": "what you said",
    "told": "summaries and reminders",
    "answers": "answers",
    "thinking": "thinking",
    "calls": "calls",
    "results": "results of calls",
    "pictures": "pictures",
}
_STATES = {
    State.ABSENT: "not built yet",
    State.PARTIAL: "partly built",
    State.READY: "up to date when last looked at",
}
_ALMOST, _FULL = 0.6, 0.8
_LANGUAGES = 6


@dataclass(frozen=True)
class Measured:
    """context: tokens that the model takes, 0 where it isn't known. used: of them in the last request and its answer,
    as the server counted, 0 where nothing was asked. cached: share of the request that the server had already. kinds:
    tokens by what they are of (`converse.sizes`, and `head`), roughly. summaries: how often room was made."""

    model: str = ""
    context: int = 0
    used: int = 0
    cached: float | None = None
    kinds: Mapping[str, float] = field(default_factory=dict)
    summaries: int = 0


class MeterPane(VerticalScroll, can_focus=True):
    """measured, index: set them anew when they change; index None is not known yet."""

    DEFAULT_CSS = """
    MeterPane {
        padding: 0 1; scrollbar-size-vertical: 1;
        & > Static { height: auto; }
        & > .title { text-style: bold; margin: 1 0 0 0; }
        & > #meter-context { margin: 0; }
        & > #meter-keys { color: $text-muted; margin: 1 0 0 0; }
    }
    """
    BINDINGS: ClassVar[list[BindingType]] = [Binding("b", "build", "build the index", show=False)]

    class Build(Message):
        """The index is to be brought up to date."""

    def __init__(self) -> None:
        super().__init__()
        self._measured = Measured()
        self._index: Status | None = None

    def compose(self) -> ComposeResult:
        yield Static(Content("Context"), classes="title")
        yield Static(id="meter-context")
        yield Static(Content("Index"), classes="title")
        yield Static(id="meter-index")
        yield Static(Content("b brings the index up to date"), id="meter-keys")

    def on_mount(self) -> None:
        self._draw()

    def on_resize(self) -> None:
        self._draw()

    @property
    def measured(self) -> Measured:
        return self._measured

    @measured.setter
    def measured(self, measured: Measured) -> None:
        if measured != self._measured:
            self._measured = measured
            self._draw()

    @property
    def index(self) -> Status | None:
        return self._index

    @index.setter
    def index(self, index: Status | None) -> None:
        if index != self._index:
            self._index = index
            self._draw()

    def action_build(self) -> None:
        self.post_message(self.Build())

    def _draw(self) -> None:
        if not self.children:
            return
        width = max(10, self.size.width - 3)
        self.query_one("#meter-context", Static).update(context(self._measured, width))
        self.query_one("#meter-index", Static).update(index(self._index))


def context(found: Measured, width: int) -> Content:
    """The meter, width columns wide."""
    total = sum(found.kinds.values())
    used = found.used or total
    share = min(1.0, used / found.context) if found.context else 0.0
    look = "$text-success" if share < _ALMOST else "$text-warning" if share < _FULL else "$text-error"
    filled = round(share * width)
    lines = [Content.assemble(("█" * filled, look), ("░" * (width - filled), "$text-muted"))]
    of = f" of {_many(found.context)} tokens ({share:.0%})" if found.context else " tokens"
    lines.append(Content(f"{'' if found.used else 'about '}{_many(used)}{of}"))
    if found.model:
        lines.append(Content.styled(inert(found.model, newlines=False), "$text-muted"))
    if found.cached is not None:
        lines.append(
            Content.styled(f"{found.cached:.0%} of the last request was in the server's cache", "$text-muted")
        )
    if found.summaries:
        times = "once" if found.summaries == 1 else f"{found.summaries} times"
        lines.append(
            Content.styled(f"Room was made {times}: what lay between is sent as a summary.", "$text-muted")
        )
    lines.append(Content(""))
    bars = max(4, min(24, width - 38))
    for kind, tokens in sorted(found.kinds.items(), key=lambda each: -each[1]):
        if tokens >= 1:
            bar = "▇" * max(1, round(tokens / total * bars))
            line = Content(f"{_KINDS.get(kind, kind):<23} {_many(tokens):>7}  ")
            lines.append(line + Content.styled(bar, "$text-primary"))
    return Content("\n").join(lines)


def index(found: Status | None) -> Content:
    """What is known of the index."""
    if found is None:
        return Content.styled("…", "$text-muted")
    state = "being brought up to date" if found.updating else _STATES[found.state]
    lines = [f"{state}", f"{found.files} of {found.listed} files, {found.definitions} definitions"]
    if found.cut:
        lines.append("There are more files than it takes.")
    many = list(found.languages.items())
    shown = [f"{name or 'plain text'} {count}" for name, count in many[:_LANGUAGES]]
    if rest := sum(count for _, count in many[_LANGUAGES:]):
        shown.append(f"others {rest}")
    if shown:
        lines.append(" · ".join(shown))
    if found.skipped:
        lines.append(
            "passed over: " + ", ".join(f"{count} {reason}" for reason, count in found.skipped.items())
        )
    for wheel in found.missing:
        lines.append(f"{wheel} isn't installed: its files are found by text alone")
    if found.bytes:
        lines.append(f"{found.bytes / 1e6:.1f} MB on disk")
    return Content("\n".join(inert(line, newlines=False) for line in lines))


def _many(count: float) -> str:
    if count < 1000:
        return f"{count:.0f}"
    if count >= 1_000_000:
        return f"{count / 1_000_000:.1f}M"
    return f"{count / 1000:.1f}k" if count < 100_000 else f"{count / 1000:.0f}k"
