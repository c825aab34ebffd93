"""The files that the session changed, and the review of one of them, hunk by hunk."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.widgets import OptionList, Static
from textual.widgets.option_list import Option

from deskagent.agent.reviewing import Changed, Now
from ui.log.inert import inert
from ui.panes.diff_view import DiffView

_NONE = """Nothing was changed in this session.

Files that the agent changes are listed here, with each change to keep or take back."""
_NOW = {
    Now.SAME: "",
    Now.CHANGED: "Changed by somebody since: it is shown as the session left it, and nothing is written over it.",
    Now.GONE: "Gone since: it is shown as the session left it, and nothing is written over it.",
}


class ChangesPane(Vertical):
    """files: what `agent.reviewing` gives, set anew when that changes. Sends `DiffView.Keep` and `DiffView.Reject`."""

    DEFAULT_CSS = """
    ChangesPane {
        & > #changes-summary { height: auto; padding: 0 1; color: $text-muted; }
        & > #changes-files {
            height: auto; max-height: 30%; border: none; padding: 0; background: $surface;
            scrollbar-size-vertical: 1; text-wrap: nowrap; text-overflow: ellipsis;
        }
        & > #changes-said { height: auto; padding: 0 1; color: $text-warning; display: none; }
        & > #changes-none { height: 1fr; padding: 1 2; color: $text-muted; display: none; }
        & > DiffView { height: 1fr; scrollbar-size: 1 1; }
        & > #changes-keys { height: auto; padding: 0 1; color: $text-muted; }
        &.-none { & > #changes-files, & > DiffView, & > #changes-keys { display: none; } }
        &.-none > #changes-none { display: block; }
        &.-said > #changes-said { display: block; }
    }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("n,right_square_bracket", "diff('hunk(1)')", "next hunk", show=False),
        Binding("p,left_square_bracket", "diff('hunk(-1)')", "previous hunk", show=False),
        Binding("a", "diff('keep')", "keep", show=False),
        Binding("r", "diff('reject')", "take back", show=False),
        Binding("s", "diff('beside')", "side by side", show=False),
        Binding("A", "keep_all", "keep the file", show=False),
    ]

    def __init__(self, *, id: str | None = None, classes: str | None = None) -> None:
        super().__init__(id=id, classes=classes)
        self._files: tuple[Changed, ...] = ()

    def compose(self) -> ComposeResult:
        yield Static(id="changes-summary")
        yield OptionList(id="changes-files")
        yield Static(id="changes-said")
        yield Static(Content(_NONE), id="changes-none")
        yield DiffView(id="changes-diff")
        yield Static(Content("n p hunk · a keep · r take back · A keep file · s sides"), id="changes-keys")

    def on_mount(self) -> None:
        self.files = self._files

    @property
    def diff(self) -> DiffView:
        return self.query_one(DiffView)

    @property
    def files(self) -> Sequence[Changed]:
        return self._files

    @files.setter
    def files(self, files: Sequence[Changed]) -> None:
        self._files = tuple(files)
        if not self.children:
            return
        self.set_class(not files, "-none")
        added, removed = (sum(file.counts[n] for file in files) for n in (0, 1))
        hunks = [hunk for file in files for hunk in file.hunks]
        kept = sum(hunk.kept for hunk in hunks)
        many = "1 file" if len(files) == 1 else f"{len(files)} files"
        summary = f"{many} · +{added} −{removed} · {kept} of {len(hunks)} kept" if files else ""
        self.query_one("#changes-summary", Static).update(Content(summary))
        listed = self.query_one(OptionList)
        before = self.diff.file.path if self.diff.file else None
        at = next((n for n, file in enumerate(files) if file.path == before), 0)
        listed.clear_options()
        listed.add_options([Option(_line(file)) for file in files])
        if files:
            listed.highlighted = at
        self._show(files[at] if files else None)

    def on_option_list_option_highlighted(self, event: OptionList.OptionHighlighted) -> None:
        event.stop()
        if event.option_index < len(self._files):
            file = self._files[event.option_index]
            if file is not self.diff.file:
                self._show(file)

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        event.stop()
        self.diff.focus()

    def _show(self, file: Changed | None) -> None:
        words = _NOW[file.now] if file else ""
        self.set_class(bool(words), "-said")
        self.query_one("#changes-said", Static).update(Content(words))
        self.diff.show(file)

    async def action_diff(self, what: str) -> None:
        await self.diff.run_action(what)

    def action_keep_all(self) -> None:
        if file := self.diff.file:
            for hunk in file.hunks:
                if not hunk.kept:
                    self.post_message(DiffView.Keep(file, hunk, True))


def _line(file: Changed) -> Content:
    kind, look = ("A", "$text-success") if file.before is None else ("M", "$text-warning")
    if file.after is None:
        kind, look = "D", "$text-error"
    added, removed = file.counts
    kept = sum(hunk.kept for hunk in file.hunks)
    counts = "binary" if file.binary else f"+{added} −{removed}"
    decided = "  ✓" if kept == len(file.hunks) else f"  {kept}/{len(file.hunks)}" if kept else ""
    stale = "" if file.now is Now.SAME else "  !"
    return Content.assemble(
        (kind, look),
        " ",
        inert(file.path, newlines=False),
        (f"  {counts}", "$text-muted"),
        (decided, "$text-success"),
        (stale, "$text-warning"),
    )
