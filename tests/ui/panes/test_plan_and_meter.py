"""Plans and the context's meter as pure functions of what they are given."""

from __future__ import annotations

from deskagent.agent.converse import sizes
from deskagent.messages import Answer, Author, Call, Image, Result, Said, Text, Thinking, Used
from deskagent.repo.index import State, Status
from deskagent.session import talk
from ui.panes.meter import Measured, MeterPane, context, index
from ui.panes.plan import PlanPane, PlanReader


def test_what_tokens_are_spent_on_adds_up() -> None:
    turns = [
        Said((Text("x" * 350), Image("b", "image/png", 750, 100))),
        Said((Text("y" * 70),), Author.DESKAGENT),
        Answer((Thinking("z" * 700), Text("w" * 35), Used(Call("1", "read", "{}"), Result.of("r" * 7000)))),
    ]
    found = sizes.by_kind(turns)
    assert set(found) == {"said", "told", "answers", "thinking", "calls", "results", "pictures"}
    assert found["results"] == 2000 and found["thinking"] == 200 and found["pictures"] == 100
    assert sizes.size(turns) == sum(found.values())


def test_the_meter_says_how_full_it_is() -> None:
    shown = context(Measured("a[b]c", 100_000, 81_000, 0.5, {"said": 1000, "head": 9000}, 2), 50).plain
    assert "81.0k of 100k tokens (81%)" in shown and "a[b]c" in shown and "2 times" in shown
    assert shown.index("instructions and tools") < shown.index("what you said")
    assert shown.splitlines()[0].count("█") == 40
    assert "about 1.0k tokens" in context(Measured(kinds={"said": 1000}), 50).plain
    assert context(Measured(), 50).plain


def test_the_index_is_told(tmp_path) -> None:
    status = Status(
        State.READY,
        False,
        tmp_path,
        2_500_000,
        9,
        10,
        55,
        {"python": 8, "": 1},
        {"too big": 1},
        0,
        ("x",),
        True,
    )
    shown = index(status).plain
    assert "9 of 10 files, 55 definitions" in shown and "plain text 1" in shown and "1 too big" in shown
    assert "2.5 MB" in shown and "x isn't installed" in shown


def test_a_plan_is_markdown_and_inert(hosted) -> None:
    reader = PlanReader()
    reader.take(
        talk.PartCame(ask="a", part=Call("1", "plan", '{"plan": "# Steps\\n\\n1. first \\u001b[31m\\n"}'))
    )
    reader.take(talk.PartCame(ask="a", part=Call("2", "plan", "{")))

    async def play(app, pilot) -> None:
        await pilot.pause(0.1)
        assert (
            "Steps" in app.text() and "first ␛[31m" in app.text() and "Nothing is planned" not in app.text()
        )
        reader.take(talk.TodosSet(todos=(talk.Todo("it", "doing"),)))
        app.pane.fresh()
        await pilot.pause()
        assert "0 of 1 done" in app.text() and "▸ it" in app.text()

    hosted(PlanPane(reader), play)


def test_no_plan_and_no_measure(hosted) -> None:
    async def empty(app, pilot) -> None:
        assert "Nothing is planned." in app.text()

    async def asked(app, pilot) -> None:
        await pilot.press("b")
        assert any(isinstance(message, MeterPane.Build) for message in app.got)

    hosted(PlanPane(PlanReader()), empty, size=(40, 12))
    hosted(MeterPane(), asked, size=(40, 12))
