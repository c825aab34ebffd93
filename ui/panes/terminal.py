"""Commands that go on in the background: a list of them, and the terminal of one, which the person may take over."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.message import Message
from textual.timer import Timer
from textual.widgets import OptionList, Static
from textual.widgets.option_list import Option

from deskagent.terminal.types import End
from deskagent.tools.jobs import Job, Jobs
from ui.log.inert import inert
from ui.panes.screen_view import ScreenView

_NONE = """Nothing runs in the background.

Servers, watchers and programs that ask for input are listed here once the agent starts them."""
_KEYS = "t your turn · x end it · ↑↓ which · g G start, end"
_TAKEN = "Your turn: keys go to {name}. Ctrl+] gives it back."
_QUIET = 1.3
"""Seconds without news after which it is asked whether a program waits for input."""


class TerminalPane(Vertical):
    """jobs: those of a conversation. It acts on them itself, and tells by `Did`."""

    DEFAULT_CSS = """
    TerminalPane {
        & > #jobs { height: auto; max-height: 30%; border: none; padding: 0; background: $surface;
            scrollbar-size-vertical: 1; text-wrap: nowrap; text-overflow: ellipsis; }
        & > #jobs-none { height: 1fr; padding: 1 2; color: $text-muted; display: none; }
        & > ScreenView { height: 1fr; }
        & > #jobs-keys { height: auto; padding: 0 1; color: $text-muted; }
        &.-taken > #jobs-keys { background: $warning; color: auto 90%; text-style: bold; }
        &.-none { & > #jobs, & > ScreenView, & > #jobs-keys { display: none; } }
        &.-none > #jobs-none { display: block; }
    }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("t", "take", "your turn", show=False),
        Binding("x", "end", "end it", show=False),
    ]

    class Did(Message):
        """The person did something to a job, in words for the model."""

        def __init__(self, told: str) -> None:
            super().__init__()
            self.told = told

    class _News(Message):
        pass

    class _Waiting(Message):
        def __init__(self, found: dict[str, str]) -> None:
            super().__init__()
            self.found = found

    class _Failed(Message):
        def __init__(self, why: str) -> None:
            super().__init__()
            self.why = why

    def __init__(
        self, jobs: Jobs | None = None, *, id: str | None = None, classes: str | None = None
    ) -> None:
        super().__init__(id=id, classes=classes)
        self._jobs = Jobs()
        self._stops: dict[str, Callable[[], None]] = {}
        self._told = False
        self._typing = ThreadPoolExecutor(1, "typing")
        self._before: tuple[int, int] | None = None
        self._waiting: dict[str, str] = {}
        self._looks: Timer | None = None
        self._given = jobs

    def compose(self) -> ComposeResult:
        yield OptionList(id="jobs")
        yield Static(Content(_NONE), id="jobs-none")
        yield ScreenView(id="jobs-screen")
        yield Static(Content(_KEYS), id="jobs-keys")

    def on_mount(self) -> None:
        if self._given is not None:
            self.jobs = self._given
        self._list()

    def on_unmount(self) -> None:
        for stop in self._stops.values():
            stop()
        if job := self.taken:
            job.taken = False
        self._typing.shutdown(wait=False)

    @property
    def view(self) -> ScreenView:
        return self.query_one(ScreenView)

    @property
    def jobs(self) -> Jobs:
        return self._jobs

    @jobs.setter
    def jobs(self, jobs: Jobs) -> None:
        self._jobs = jobs
        jobs.watch(self._tell)
        self._list()

    @property
    def current(self) -> Job | None:
        """The job that is shown."""
        at = self.query_one(OptionList).highlighted
        jobs = self._jobs.all
        return jobs[at] if at is not None and at < len(jobs) else None

    @property
    def taken(self) -> Job | None:
        """The job that the person types into."""
        return next((job for job in self._jobs.all if job.taken), None)

    # --- what is shown

    def _tell(self) -> None:
        """On any thread."""
        if not self._told:
            self._told = True
            self.post_message(self._News())

    def on_terminal_pane__news(self, event: TerminalPane._News) -> None:
        event.stop()
        self._told = False
        self._list()
        self._look_soon()

    def _look_soon(self) -> None:
        if self._looks is not None:
            self._looks.stop()
        if self._jobs.running:
            self._looks = self.set_timer(_QUIET, self._look)

    def _look(self) -> None:
        """Whether programs wait for input is read from the system, so not here."""
        self.run_worker(self._look_at_all, thread=True, exclusive=True, group="waiting")

    def _look_at_all(self) -> None:
        self.post_message(self._Waiting({job.name: str(job.waiting or "") for job in self._jobs.running}))

    def on_terminal_pane__waiting(self, event: TerminalPane._Waiting) -> None:
        event.stop()
        self._waiting = event.found
        self._list()

    def _list(self) -> None:
        """The list as it is now; the newest job is shown, unless the person chose or took one."""
        if not self.children:
            return
        jobs, listed = self._jobs.all, self.query_one(OptionList)
        self.set_class(not jobs, "-none")
        new = [job for job in jobs if job.name not in self._stops]
        for job in new:
            self._stops[job.name] = job.session.watch(self._tell)
        if new:
            self._look_soon()
        lines = [_line(job, self._waiting.get(job.name, "")) for job in jobs]
        for n, line in enumerate(lines):
            if n < listed.option_count:
                listed.replace_option_prompt_at_index(n, line)
            else:
                listed.add_option(Option(line))
        if new and self.taken is None:
            listed.highlighted = len(jobs) - 1
        if (job := self.taken) is not None and job.result is not None:
            self._give_back(job, f"{job.name} ended while the person typed into it.")
        self.view.show(self.current.session if self.current else None)

    def on_option_list_option_highlighted(self, event: OptionList.OptionHighlighted) -> None:
        event.stop()
        if self.taken is None and self.current:
            self.view.show(self.current.session)

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        event.stop()
        self.view.focus()

    # --- the person's turn

    def action_take(self) -> None:
        job = self.current
        if job is None or job.result is not None or self.taken is not None:
            return
        job.taken = True
        self._before = job.session.size
        self.view.taken = True
        self.add_class("-taken")
        self.query_one("#jobs-keys", Static).update(Content(_TAKEN.format(name=job.name)))
        self._resize(job, self.view.size.height, self.view.size.width)
        self.view.focus()

    def on_screen_view_sized(self, event: ScreenView.Sized) -> None:
        event.stop()
        if job := self.taken:
            self._resize(job, event.rows, event.columns)

    def on_screen_view_typed(self, event: ScreenView.Typed) -> None:
        event.stop()
        if job := self.taken:
            self._do(lambda: job.session.write(event.data))

    def on_screen_view_give_back(self, event: ScreenView.GiveBack) -> None:
        event.stop()
        if job := self.taken:
            self._give_back(job, f"The person typed into {job.name} ({job.line}) and gave it back.")

    def _give_back(self, job: Job, told: str) -> None:
        job.taken = False
        self.view.taken = False
        self.remove_class("-taken")
        self.query_one("#jobs-keys", Static).update(Content(_KEYS))
        if self._before and job.result is None:
            self._resize(job, *self._before)
        self.query_one(OptionList).focus()
        self.post_message(self.Did(told))

    def action_end(self) -> None:
        job = self.current
        if job is not None and job.result is None and self.taken is None:
            self._do(job.session.terminate)
            self.post_message(self.Did(f"The person ended {job.name} ({job.line})."))

    def _resize(self, job: Job, rows: int, columns: int) -> None:
        if rows > 0 and columns > 0:
            self._do(lambda: job.session.resize(rows, columns))

    def _do(self, what: Callable[[], object]) -> None:
        """Off this thread, one after the other: a program may not read what is typed."""

        def guarded() -> None:
            try:
                what()
            except (OSError, TimeoutError) as error:
                self.post_message(self._Failed(str(error)))

        self._typing.submit(guarded)

    def on_terminal_pane__failed(self, event: TerminalPane._Failed) -> None:
        event.stop()
        self.notify(inert(event.why), severity="warning", markup=False)


def _line(job: Job, waiting: str) -> Content:
    mark, look, state = "●", "$text-success", "running"
    if (result := job.result) is not None:
        good = result.end is End.EXITED and result.code == 0
        mark, look = ("✓", "$text-muted") if good else ("✗", "$text-error")
        state = f"exit {result.code}" if result.end is End.EXITED else str(result.end)
    elif job.taken:
        mark, look, state = "▶", "$text-warning", "your turn"
    elif waiting:
        mark, look, state = "?", "$text-warning", "waits for input"
    return Content.assemble(
        (mark, look),
        f" {job.name}  ",
        (state, look),
        "  ",
        (inert(job.line, newlines=False), "$text-muted"),
    )
