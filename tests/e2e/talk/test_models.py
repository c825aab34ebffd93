"""A person's models, from the command line."""

from __future__ import annotations

from pathlib import Path

import pytest


def model(agent, project: Path, *words: str):
    return agent.run([*agent.command, "model", *words], project)


def test_a_model_is_added_listed_and_used(agent, project: Path, serve) -> None:
    server = serve([["text", "ready"]], [["call", ["add", {"a": 2, "b": 3}]]])
    url = f"http://127.0.0.1:{server.port}/v1"
    added = model(
        agent, project, "add", "local/other", url, "--dialect", "vllm", "--context", "65536", "--default"
    )
    assert added.code == 0, added
    listed = model(agent, project, "list").stdout
    assert "* local/other" in listed and "  stand/in" in listed and "65536" in listed
    checked = model(agent, project, "check")
    assert checked.code == 0 and "✓ an answer: ready" in checked.stdout and "✓ a call: add" in checked.stdout
    assert server.asked[0]["model"] == "other"
    assert model(agent, project, "use", "stand/in").code == 0
    assert "* stand/in" in model(agent, project, "list").stdout


def test_a_model_that_writes_no_calls_is_told(agent, project: Path, serve) -> None:
    serve([["text", "ready"]], [["text", "It is 5."]])
    checked = model(agent, project, "check", "stand/in")
    assert checked.code == 1 and "✗ a call" in checked.stdout and "tool parser" in checked.stderr


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["add", "noslash", "http://x/v1"], "PROVIDER/MODEL"),
        (["add", "a/b", "http://x/v1", "--dialect", "klingon"], "klingon"),
        (["add", "a/b", "ftp://x"], "ftp"),
        (["add", "a/b", "http://x/v1", "--tiers", "medium"], "medium"),
        (["use", "a/b"], "no model 'a/b'"),
        (["check", "a/b"], "no model 'a/b'"),
    ],
)
def test_what_can_not_be_is_said_and_nothing_is_kept(
    agent, project: Path, words: list[str], says: str
) -> None:
    done = model(agent, project, *words)
    assert done.code == 2 and says in done.stderr
    assert not (agent.home / "config" / "models.toml").exists()
