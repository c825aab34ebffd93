"""What a person and a trusted project give as files reaches the model, and nothing of an untrusted one does."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path

import pytest

from deskagent.agent import permissions
from deskagent.agent.converse.work import Options, at_work
from deskagent.agent.given import commands, found, instructions, matter
from deskagent.messages import Answer, Text


class Nobody:
    interactive = False

    def ask(self, question) -> bool:
        return False

    def choose(self, question, choices) -> str:
        return ""

    def show(self, event) -> None:
        return None


@pytest.fixture
def files(project: Path) -> None:
    for name, text in {
        ".agents/skills/pdf/SKILL.md": "---\nname: pdf\ndescription: Use when: a PDF is made\n---\nRun make-pdf.",
        ".agents/skills/pdf/extra.md": "More of it.",
        ".agents/agents/critic.md": "---\nname: critic\ndescription: finds faults\ntools: Read, Grep\n---\nBe strict.",
        ".agents/commands/review.md": "---\ndescription: looks\n---\nReview $1 of $ARGUMENTS.",
        ".agents/commands/help.md": "mine",
        "AGENTS.md": "Top rules.\n@more.md\n@/etc/passwd\n@../outside.md",
        "more.md": "Imported words.",
        "CLAUDE.md": "Not read beside AGENTS.md.",
        "src/CLAUDE.md": "Rules of src.",
        "src/deep/AGENTS.md": "Rules of deep.",
        "src/deep/a.py": "x = 1\n",
        "src/b.py": "y = 1\n",
    }.items():
        path = project / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    (project.parent / "outside.md").write_text("Outside words.")


@pytest.fixture
def options(project: Path, scripted) -> Callable[..., Options]:
    def make(answers, **more) -> Options:
        return Options(start=project, argv=(), model=lambda name: (scripted(list(answers)), False), **more)

    return make


def told(talk) -> list[str]:
    return [
        part.text
        for turn in talk.history.turns()
        if isinstance(turn, Answer)
        for used in turn.used
        for part in used.result.content
        if isinstance(part, Text)
    ]


@pytest.mark.usefixtures("files")
def test_nothing_of_a_project_counts_before_it_is_trusted(options, script, project: Path) -> None:
    says, calls = script
    read = calls(("c1", "read", '{"path": "src/deep/a.py"}'), ("c2", "skill", '{"name": "pdf"}'))
    with at_work(options([read, says("ok")]), Nobody()) as talk:
        talk.say((Text("go"),))
        asyncio.run(talk.run())
        assert "Top rules" not in talk.system and "pdf" not in talk.system and "critic" not in talk.system
        assert not any("Rules of" in each for each in told(talk)) and "no skill 'pdf'" in told(talk)[1]
    assert commands.commands(project, trusted=False, warn=print, taken={}) == {}


@pytest.mark.usefixtures("files")
def test_names_enter_the_head_and_bodies_come_when_they_are_used(options, script, project: Path) -> None:
    says, calls = script
    permissions.trust(project)
    asks = calls(
        ("c1", "skill", '{"name": "pdf"}'),
        ("c2", "skill", '{"name": "pdf", "file": "extra.md"}'),
        ("c3", "skill", '{"name": "pdf", "file": "../../../AGENTS.md"}'),
    )
    with at_work(options([asks, says("ok")]), Nobody()) as talk:
        talk.say((Text("go"),))
        asyncio.run(talk.run())
        assert "- pdf: Use when: a PDF is made" in talk.system and "make-pdf" not in talk.system
        assert "- critic: finds faults" in talk.system and "Be strict" not in talk.system
        first, second, third = told(talk)
    assert first.startswith("Run make-pdf.") and "extra.md" in first
    assert second == "More of it." and "doesn't lie in" in third


@pytest.mark.usefixtures("files")
def test_instructions_of_folders_below_come_once_and_again_after_a_summary(
    options, script, project: Path
) -> None:
    says, calls = script
    permissions.trust(project)
    reads = [
        calls((f"c{n}", "read", f'{{"path": "{p}"}}'))
        for n, p in enumerate(["src/b.py", "src/deep/a.py"] * 2)
    ]
    with at_work(options([*reads, says("ok")]), Nobody()) as talk:
        talk.say((Text("go"),))
        asyncio.run(talk.run())
        texts = told(talk)
        session = talk.recorder.journal.id
    assert (
        "Top rules.\nImported words.\n@/etc/passwd (not taken in)\n@../outside.md (not taken in)"
        in talk.system
    )
    assert "Not read beside" not in talk.system
    assert [each for each in texts if "Instructions" in each] == [
        "Instructions of src/CLAUDE.md:\nRules of src.",
        "Instructions of src/deep/AGENTS.md:\nRules of deep.",
    ]
    with at_work(options([reads[1], says("ok")], session=session), Nobody()) as again:
        again.say((Text("go"),))
        asyncio.run(again.run())
        assert len([each for each in told(again) if "Rules of deep" in each]) == 1


@pytest.mark.usefixtures("files")
def test_commands_take_their_words_and_shadow_none_of_ours(project: Path) -> None:
    warned: list[str] = []
    made = commands.commands(project, trusted=True, warn=warned.append, taken={"help": 1})
    assert list(made) == ["review"] and "/help is a command of deskagent's own" in warned[0]
    assert commands.expanded(made["review"], "'a b' c") == "Review a b of 'a b' c."
    assert commands.expanded(made["review"], "it's") == "Review it's of it's."


@pytest.mark.parametrize(
    ("text", "fields"),
    [
        ("---\nname: a\ntools: [x, y]\n---\nb", {"name": "a", "tools": ("x", "y")}),
        ("---\r\nname: a\r\n---\r\nb", {"name": "a"}),
        ("---\ndescription: >\n  two\n  lines\n---\nb", {"description": "two lines\n"}),
        (
            "---\ndescription: Use it when: now\nname: 'q'\n---\nb",
            {"description": "Use it when: now", "name": "q"},
        ),
        ("---\n- a\n---\nb", {}),
        ("---\na: &a [x]\nb: {c: d}\n---\nb", {"a": ("x",)}),
    ],
)
def test_front_matter_is_read_as_people_write_it(text: str, fields) -> None:
    assert matter.split(text) == (fields, "b")


def test_rubbish_is_left_out_and_said(project: Path, home: Path) -> None:
    own = home / "config" / "skills"
    for name, data in {
        "big": b"x" * 100_000,
        "nul": b"---\nname: a/b\n---\n",
        "bytes": b"\xff\xfe\0",
    }.items():
        (own / name).mkdir(parents=True)
        (own / name / "SKILL.md").write_bytes(data)
    (project / ".agents" / "skills").mkdir(parents=True)
    (project / ".agents" / "skills" / "out").symlink_to(own / "big")
    warned: list[str] = []
    made = found.given("skills", project, trusted=True, warn=warned.append)
    assert sorted(made) == ["big", "bytes"] and len(made["big"].body) == found.MOST_BYTES
    assert len(warned) == 3 and "leads out" in warned[-1]
    (project / "AGENTS.md").write_bytes(b"a" * 200_000)
    assert len(instructions.told(project / "AGENTS.md", project)) < instructions.LONGEST + 200
