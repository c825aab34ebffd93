"""`fix` with models beside the search: by tools, by questions, in a race; what they may not do counts for nothing."""

from __future__ import annotations

import json
import os
import signal
from pathlib import Path

import pytest

from deskagent.terminal.sandbox import find_sandbox
from deskagent.terminal.types import Rung

BUGGY = 'def roman(n):\n    """The Roman numeral of n, from 1 to 3999."""\n    return "I" * n\n'
RIGHT = (
    "_ROWS = ((1000, 'M'), (900, 'CM'), (500, 'D'), (400, 'CD'), (100, 'C'), (90, 'XC'), (50, 'L'), (40, 'XL'),\n"
    "         (10, 'X'), (9, 'IX'), (5, 'V'), (4, 'IV'), (1, 'I'))\n\n\n"
    "def roman(n):\n"
    '    """The Roman numeral of n, from 1 to 3999."""\n'
    "    found = ''\n"
    "    for value, sign in _ROWS:\n"
    "        while n >= value:\n"
    "            found, n = found + sign, n - value\n"
    "    return found\n"
)
TEST = """
import unittest
from numerals import roman


class Numerals(unittest.TestCase):
    def test_one(self):
        self.assertEqual(roman(1), "I")

    def test_four(self):
        self.assertEqual(roman(4), "IV")

    def test_year(self):
        self.assertEqual(roman(1994), "MCMXCIV")
"""
LINE = "python -m unittest -q"
READ = [["think", "Let me look."], ["call", ["read", {"path": "numerals.py"}]]]
WRITE = [["call", ["write", {"path": "numerals.py", "content": RIGHT}]]]
VERIFY = [["call", ["verify", {"note": "write numerals by a table"}]]]
DONE = [["text", "It wrote I as often as n says."]]
UNCONFINED = find_sandbox().rung is Rung.NONE


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / "numerals.py").write_text(BUGGY)
    (folder / "test_numerals.py").write_text(TEST)
    return folder


@pytest.fixture
def fix(agent, project: Path):
    def run(*words: str, model: str = "stand/in", **env: str):
        return agent.fix(
            "roman numerals are wrong", "--test", LINE, "--model", model, *words, cwd=project, **env
        )

    return run


def results(server) -> list[str]:
    return [m["content"] for m in server.asked[-1]["messages"] if m["role"] == "tool"]


def test_a_model_repairs_what_no_typed_edit_does(fix, agent, serve, project: Path) -> None:
    server = serve(READ, WRITE, VERIFY, DONE)
    done = fix()
    assert done.code == 0, done
    result = done.result
    assert (result["status"], result["applied"]) == ("fixed", True)
    assert (project / "numerals.py").read_text() == RIGHT
    assert result["patch"]["operator"] == "model.tools"
    [model] = result["models"]
    assert model["passes"] and model["chosen"] and model["patches"] == 1 and model["turns"] == 4
    assert result["usage"]["prompt_tokens"] == 400 and model["tokens"]["cached"] == 240
    told = str(server.asked[0]["messages"])
    assert "roman numerals are wrong" in told and "numerals.py:3" in told and "tried in vain" in told
    assert "Passes: what failed passes now" in results(server)[-1]
    shown = agent.run([*agent.command, "verify", result["session_id"], "--output-format", "json"], project)
    assert shown.code == 0, shown
    undone = agent.run([*agent.command, "undo", result["session_id"]], project)
    assert undone.code == 0 and (project / "numerals.py").read_text() == BUGGY


def test_what_is_not_a_repair_counts_for_nothing(fix, serve, project: Path, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    server = serve(
        [["call", ["read", {"path": "test_numerals.py"}]]],
        [["call", ["edit", {"path": "test_numerals.py", "old": '"IV"', "new": "roman(4)"}]]],
        [["call", ["terminal", {"command": f"echo x > {outside}; rm numerals.py; echo ok"}]]],
        [["call", ["write", {"path": "pytest.py", "content": "raise SystemExit(0)\n"}]]],
        [["call", ["write", {"path": "conftest.py", "content": "collect_ignore = ['test_numerals.py']\n"}]]],
        [["call", ["verify", {}]]],
        [["text", "All done."]],
    )
    done = fix("--effort", "low", "--max-turns", "9")
    assert done.code in (1, 53), done
    said = results(server)[5]
    for word in (
        "test_numerals.py is a test",
        "numerals.py is gone",
        "pytest.py would stand in",
        "conftest.py is a test",
    ):
        assert word in said, said
    assert "Nothing was changed" in said
    assert not outside.exists() or UNCONFINED
    assert sorted(path.name for path in project.iterdir() if path.suffix) == [
        "numerals.py",
        "test_numerals.py",
    ]
    assert (project / "numerals.py").read_text() == BUGGY
    assert any("ended without a patch" in notice for notice in done.result["notices"])


@pytest.mark.parametrize(
    ("answers", "why"),
    [
        ([[["text", ""]]], ""),
        ([[["die", None]]], ""),
        ([[["call", ["nosuch", {"a": 1}]]]], ""),
        ([[["think", "round and round it goes. " * 900], ["text", "ok"]]], ""),
    ],
)
def test_a_models_rubbish_never_ends_the_run(fix, serve, project: Path, answers, why: str) -> None:
    serve(*answers)
    done = fix("--effort", "low", "--max-turns", "5", "--max-candidates", "8")
    assert done.code in (1, 53), done
    assert done.result["error"] is None and done.result["models"][0]["why"]
    assert (project / "numerals.py").read_text() == BUGGY


def test_no_server_and_no_such_model(fix, agent, serve, project: Path) -> None:
    serve(DONE)
    file = agent.home / "config" / "models.toml"
    file.write_text('["stand/in"]\ndialect = "vllm"\nbase = "http://127.0.0.1:9/v1"\n')
    done = fix("--effort", "low", "--max-candidates", "8")
    assert done.code in (1, 53) and done.result["models"][0]["why"], done
    missing = fix(model="stand/out")
    assert (
        missing.code == 2
        and "neither one of your models nor a checkpoint" in missing.result["error"]["message"]
    )


def test_a_small_model_is_asked_questions(fix, agent, serve, project: Path) -> None:
    lines = RIGHT.splitlines()[8:]
    body = {
        "first": 3,
        "last": 3,
        "lines": ["    found = ''", "    for value, sign in ((1000, 'M'), (900, 'CM'),"],
    }
    body["lines"] += ["            (500, 'D'), (400, 'CD'), (100, 'C'), (90, 'XC'), (50, 'L'), (40, 'XL'),"]
    body["lines"] += ["            (10, 'X'), (9, 'IX'), (5, 'V'), (4, 'IV'), (1, 'I')):", *lines]
    answer = [["text", "```json\n" + json.dumps({"place": 1, "edit": 0, **body}) + "\n```"]]
    server = serve([["text", "I don't know."]], answer)
    file = agent.home / "config" / "models.toml"
    file.write_text(file.read_text() + "tools = false\n")
    done = fix("--effort", "low")
    assert done.code == 0, done
    assert done.result["patch"]["operator"] == "model.lines"
    assert done.result["models"][0]["works_by"] == "questions"
    assert all("tools" not in asked for asked in server.asked)
    assert "MCM" not in BUGGY and "for value, sign" in (project / "numerals.py").read_text()


def test_in_a_race_the_tests_choose(fix, agent, serve, project: Path) -> None:
    wrong = {"path": "numerals.py", "content": BUGGY.replace("* n", "* (n - 1)")}
    servers = [
        serve(READ, [["call", ["write", wrong]]], [["text", "Done."]]),
        serve(READ, WRITE, DONE),
    ]
    (agent.home / "config" / "models.toml").write_text(
        "\n".join(
            f'["stand/{name}"]\ndialect = "vllm"\nbase = "http://127.0.0.1:{server.port}/v1"'
            for name, server in zip("ab", servers, strict=True)
        )
    )
    done = fix("--race", "stand/a,stand/b", "--effort", "low", model="none")
    assert done.code == 0, done
    first, second = done.result["models"]
    assert (first["passes"], first["chosen"], first["plan"]) == (False, False, 1)
    assert (second["passes"], second["chosen"], second["plan"]) == (True, True, 2)
    assert "accept your copy" in str(servers[0].asked[-1]["messages"])
    assert (project / "numerals.py").read_text() == RIGHT
    told = [str(server.asked[0]["messages"][1]) for server in servers]
    assert told[0] != told[1]


def test_killed_in_the_middle_it_says_what_it_does(fix, agent, serve, project: Path) -> None:
    serve(READ, [["text", "wait"], ["pause", 60]], WRITE, VERIFY, DONE)
    words = agent.fix_words("roman", "--test", LINE, "--race", "1", "--model", "stand/in")
    words[words.index("json")] = "stream-json"
    child = agent.start(words, project)
    for line in child.stdout:
        event = json.loads(line)
        if event["type"] == "within" and event["event"]["type"] == "call_ended":
            break
    os.kill(child.pid, signal.SIGKILL)
    child.communicate(timeout=120)
    bad = agent.fix("-c", "--model", "stand/out", cwd=project)
    assert bad.code == 2
    assert not any(b"stand/out" in file.read_bytes() for file in agent.home.rglob("*.jsonl"))
    serve(READ, WRITE, VERIFY, DONE)
    done = agent.fix("-c", cwd=project)
    assert done.code == 0, done
    assert any("Models begin anew" in notice for notice in done.result["notices"])
    assert (project / "numerals.py").read_text() == RIGHT
