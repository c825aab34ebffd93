"""The panes in the app: fed from the session, and what the person does there is done, on record and told."""

from __future__ import annotations

import threading
from pathlib import Path

from textual.widgets import OptionList, TabbedContent

from deskagent.agent.permissions import Mode
from tests.ui.conftest import Play, calls, says
from ui.panes.diff_view import DiffView
from ui.panes.screen_view import ScreenView

EDIT = ("c1", "edit", '{"path": "calc.py", "old": "a - b", "new": "a + b"}')
READ = ("c0", "read", '{"path": "calc.py"}')
TODO = (
    "c2",
    "todo",
    '{"todos": [{"text": "[red]one\\u001b[31m", "state": "done"}, {"text": "two", "state": "doing"}]}',
)
JOB = ("c3", "job", '{"do": "start", "command": "echo up; cat", "seconds": 0}')


def test_a_change_is_taken_back_in_review_and_the_model_hears_of_it(play, project: Path) -> None:
    async def steps(on: Play) -> None:
        await on.send("fix it")
        await on.shows("Done.")
        await on.idle()
        on.app.side.show("changes")
        await on.shows("0 of 1 kept")
        on.app.query_one(DiffView).focus()
        await on.press("a")
        await on.shows("1 of 1 kept")
        await on.press("r")
        await on.shows("Nothing was changed")
        assert "a - b" in (project / "calc.py").read_text()
        await on.press("escape")  # back to what is written
        await on.send("and now?")
        await on.shows("I see.")
        await on.idle()

    provider = play([calls(READ), calls(EDIT), says("Done."), says("I see.")], steps, mode=Mode.AUTO)
    assert "The person reviewed calc.py and took this back" in str(provider.asked[-1].turns)


def test_a_file_that_was_changed_since_is_said_and_left_alone(play, project: Path) -> None:
    async def steps(on: Play) -> None:
        await on.send("fix it")
        await on.shows("Done.")
        await on.idle()
        on.app.side.show("changes")
        await on.shows("0 of 1 kept")
        (project / "calc.py").write_text("mine\n")
        on.app.query_one(DiffView).focus()
        await on.press("r")
        await on.shows("Changed by somebody since")
        assert (project / "calc.py").read_text() == "mine\n"

    play([calls(READ), calls(EDIT), says("Done.")], steps, mode=Mode.AUTO)


def test_todos_and_the_context_are_shown(play) -> None:
    async def steps(on: Play) -> None:
        await on.send("plan it")
        await on.shows("Planned.")
        await on.idle()
        on.app.side.show("plan")
        await on.shows("1 of 2 done")
        assert "✓ [red]one␛[31m" in on.screen()
        on.app.side.show("meter")
        await on.shows("4.0k of 1.0M tokens")
        await on.shows("instructions and tools")
        await on.shows("not built yet")

    play([calls(TODO), says("Planned.")], steps)


def test_a_job_is_taken_over_with_keys_that_the_app_has_a_use_for(play) -> None:
    async def steps(on: Play) -> None:
        await on.send("serve it")
        await on.shows("Up.")
        await on.idle()
        on.app.side.show("terminals")
        await on.until(lambda: on.app.query("#jobs"), "the pane")
        await on.until(
            lambda: on.app.query_one("#jobs", OptionList).option_count == 1 and "up" in on.screen()
        )
        on.app.query_one("#jobs", OptionList).focus()
        await on.press("t")
        await on.shows("Your turn")
        view = on.app.query_one(ScreenView)
        assert on.app.focused is view
        await on.press("h", "i", "enter", "ctrl+r", "ctrl+d")
        await on.until(lambda: "hi" in on.screen() and "exit 0" in on.screen())
        assert len(on.app.screen_stack) == 1 and on.app.session  # ctrl+r and ctrl+d went to the program

    play([calls(JOB), says("Up.")], steps, mode=Mode.FULL)


def test_panes_are_made_when_they_are_wanted_also_while_the_model_is_at_work(play) -> None:
    held = threading.Event()

    async def steps(on: Play) -> None:
        assert not on.app.query(TabbedContent)
        await on.send("serve it")
        await on.shows("Up.")
        on.app.side.show("terminals")
        await on.until(lambda: on.app.query("#jobs"), "the pane")
        await on.until(lambda: on.app.query_one("#jobs", OptionList).option_count == 1, "the job")
        assert on.app.busy
        held.set()

    play([calls(JOB), [*says("Up.")[:1], held.wait, *says()]], steps, mode=Mode.FULL)


def test_the_panel_has_a_tab_a_pane_in_the_narrowest_window(play) -> None:
    async def steps(on: Play) -> None:
        await on.press("ctrl+b")
        await on.until(lambda: on.app.query(TabbedContent), "the panes")
        tabs = on.app.query_one(TabbedContent)
        assert [pane.id for pane in tabs.query("TabPane")] == [
            "changes",
            "plan",
            "terminals",
            "pictures",
            "meter",
        ]
        for pane in ("changes", "plan", "terminals", "pictures", "meter"):
            on.app.side.show(pane)
            await on.pilot.pause()
        await on.press("ctrl+b", "escape")
        await on.send("hello")
        await on.shows("There is nothing more to say.")

    play([], steps, size=(80, 24))
