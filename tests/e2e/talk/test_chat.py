"""`deskagent chat` in a real terminal."""

from __future__ import annotations

from pathlib import Path

import pexpect
import pytest


@pytest.fixture
def chat(agent, project: Path):
    """Starts a chat, and ends it at last."""
    running: list[pexpect.spawn] = []

    def start(*words: str) -> pexpect.spawn:
        command = [*agent.command, "chat", *words]
        env = {**agent.env(), "NO_COLOR": "1", "TERM": "dumb"}
        child = pexpect.spawn(
            command[0],
            command[1:],
            cwd=str(project),
            env=env,
            encoding="utf-8",
            timeout=60,
            dimensions=(40, 200),
        )
        running.append(child)
        child.expect("\n> ")
        return child

    yield start
    for child in running:
        child.close(force=True)


READ = [["call", ["read", {"path": "calc.py"}]]]
EDIT = [["call", ["edit", {"path": "calc.py", "old": "a - b", "new": "a + b"}]]]


def test_a_conversation_of_several_turns_with_undo_and_rewind(chat, serve, project: Path) -> None:
    server = serve(READ, EDIT, [["text", "Now it adds."]], [["text", "Fine."]])
    child = chat("--permission-mode", "ask")
    child.sendline("fix add")
    child.expect("Make this change\\?")
    child.sendline("y")
    child.expect("Now it adds.")
    child.expect("\n> ")
    assert "a + b" in (project / "calc.py").read_text()
    child.sendline("/undo")
    child.expect("return a - b")
    child.expect("\n> ")
    assert "a - b" in (project / "calc.py").read_text()
    child.sendline("leave it then")
    child.expect("Fine.")
    child.expect("\n> ")
    assert "took back this change" in str(server.asked[3]["messages"])
    child.sendline("/rewind 2")
    child.expect("Taken out")
    child.expect("\n> ")
    child.sendline("/cost")
    child.expect("Context: about")
    child.expect("\n> ")
    child.sendeof()
    child.expect("To go on: deskagent chat -r")
    child.expect(pexpect.EOF)


def test_an_interrupt_ends_the_turn_and_not_the_chat(chat, serve) -> None:
    server = serve([["text", "I think "], ["pause", 30]], [["text", "Here I am."]])
    child = chat()
    child.sendline("think")
    child.expect("I think")
    child.sendintr()
    child.expect("interrupted")
    child.expect("\n> ")
    child.sendline("are you there?")
    child.expect("Here I am.")
    said = [m["content"] for m in server.asked[1]["messages"] if m["role"] == "assistant"]
    assert said == ["I think "]


def test_a_shell_line_of_the_persons_is_seen_by_the_model(chat, serve) -> None:
    server = serve([["text", "I see it."]])
    child = chat()
    child.sendline("!echo from the shell")
    child.expect("\n> ")
    child.sendline("what did it say? \\")
    child.expect("… ")
    child.sendline("in one word")
    child.expect("I see it.")
    told = str(server.asked[0]["messages"])
    assert "from the shell" in told and "what did it say? \\nin one word" in told


def test_commands_that_are_none_are_said_and_help_lists_them(chat, serve) -> None:
    serve([["text", "x"]])
    child = chat()
    child.sendline("/nosuch")
    child.expect("no command /nosuch")
    child.expect("\n> ")
    child.sendline("/help")
    child.expect("/compact")
    child.expect("\n> ")
    child.sendline("/budget high")
    child.expect("Effort: high")
    child.sendline("/exit")
    child.expect(pexpect.EOF)


def test_the_mode_is_changed_in_the_middle_and_the_model_hears_it(chat, serve, project: Path) -> None:
    server = serve(READ, EDIT, [["text", "Now it adds."]])
    child = chat("--permission-mode", "plan")
    child.sendline("/mode sideways")
    child.expect("is no mode")
    child.expect("\n> ")
    child.sendline("/mode auto")
    child.expect("Mode: auto")
    child.expect("\n> ")
    child.sendline("fix add")
    child.expect("Now it adds.")
    child.expect("\n> ")
    assert "a + b" in (project / "calc.py").read_text()
    said = [m["content"] for m in server.asked[0]["messages"] if m["role"] == "user"]
    assert "plan mode" in str(said) and "Changes may be made now (mode auto)" in str(said)


def test_a_plan_is_shown_and_approved_and_a_subagents_calls_are_seen(chat, serve, project: Path) -> None:
    look = ["agent", {"description": "look at add", "task": "read calc.py", "kind": "explore"}]
    serve(
        [["call", look]],
        READ,
        [["text", "It subtracts."]],
        [["call", ["plan", {"plan": "1. read\n2. make it add"}]]],
        READ,
        EDIT,
        [["text", "Now it adds."]],
    )
    child = chat("--permission-mode", "plan")
    child.sendline("plan it")
    child.expect("explore: read calc.py")
    child.expect("2. make it add")
    child.expect("Go ahead with this plan")
    child.sendline("2")
    child.expect("Now it adds.")
    child.expect("\n> ")
    assert "a + b" in (project / "calc.py").read_text()


def test_a_trusted_projects_commands_are_called_by_name_and_run_no_shell(
    chat, agent, serve, project: Path
) -> None:
    folder = project / ".agents" / "commands"
    folder.mkdir(parents=True)
    (folder / "review.md").write_text("---\ndescription: looks at it\n---\n!touch made\nReview $1 well.")
    server = serve([["text", "It is fine."]])
    child = chat()
    child.sendline("/review calc.py")
    child.expect("There is no command /review")
    child.sendline("/exit")
    child.expect(pexpect.EOF)
    assert agent.run([*agent.command, "trust", str(project)], project).code == 0
    child = chat()
    child.sendline("/help")
    child.expect("/review +looks at it")
    child.expect("\n> ")
    child.sendline("/review calc.py now")
    child.expect("It is fine.")
    assert "Review calc.py well." in str(server.asked[0]["messages"])
    assert not (project / "made").exists()
