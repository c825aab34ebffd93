"""`--since`, and tests that pass by chance, from the command line."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

PYTEST = f"{sys.executable} -m pytest -q -p no:cacheprovider"
SHOP = """
RATES = {"book": 7, "tool": 19}


def tax(kind, net):
    return net * RATES[kind] // 100


def total(items):
    return sum(net + tax(kind, net) for kind, net in items)
"""
TESTS = """
from shop import total


def test_book():
    assert total([("book", 100)]) == 107
"""
NEW_TEST = (
    TESTS
    + """

def test_tool():
    assert total([("tool", 100)]) == 119


def test_toy():
    assert total([("toy", 100)]) == 121
"""
)


def test_since_auto_names_the_commit_and_keeps_what_else_it_brought(
    agent, project: Callable[..., Path], git: Callable[..., str], snapshot
) -> None:
    folder = project({"shop.py": SHOP, "test_shop.py": TESTS})

    def commit(files: dict[str, str], subject: str) -> str:
        for name, text in files.items():
            (folder / name).write_text(text.lstrip("\n"))
        git(folder, "add", "-A")
        git(folder, "commit", "-qm", subject)
        return git(folder, "rev-parse", "HEAD").strip()

    commit({"notes.txt": "1"}, "notes")
    green = git(folder, "rev-parse", "HEAD").strip()
    bad = SHOP.replace('"tool": 19', '"toy": 21, "tool": 20')
    guilty = commit({"shop.py": bad, "notes.txt": "2"}, "toys")
    commit({"other.py": "X = 1\n"}, "other")
    commit({"test_shop.py": NEW_TEST}, "more tests")
    before = snapshot(folder / ".git")
    done = agent.fix("--since", "auto", "--test", PYTEST, "--permission-mode", "auto", cwd=folder)
    assert done.code == 0, done.stdout + done.stderr
    result = done.result
    assert result["regression"]["culprit"]["commit"] == guilty
    assert result["regression"]["last_green"]["commit"] == green
    assert result["regression"]["enough_to_take_back"] == [{"path": "shop.py", "line": 1}]
    assert (folder / "shop.py").read_text() == SHOP.lstrip("\n").replace('"tool"', '"toy": 21, "tool"')
    assert "toys" in result["patch"]["note"] or result["patch"]["operator"].startswith("constant")
    assert "toys" in result["suspects"][0]["reasons"][0]
    assert snapshot(folder / ".git") == before


def test_a_commit_that_is_red_too_is_refused(agent, project, git) -> None:
    folder = project({"shop.py": SHOP.replace("19", "20"), "test_shop.py": NEW_TEST.replace("121", "100")})
    for since, said in (("HEAD", "fail too"), ("nowhere", "names no commit")):
        done = agent.fix("--since", since, "--test", PYTEST, cwd=folder)
        assert done.code == 2 and said in done.result["error"]["message"]


def test_luck_is_no_repair_and_is_said(agent, project) -> None:
    test = "import random\n\nfrom shop import total\n\n\ndef test_luck():\n    assert random.random() < {}\n"
    folder = project({"shop.py": SHOP, "test_shop.py": test.format("0.8 and total([('book', 100)]) == 107")})
    said = False
    for _ in range(
        40
    ):  # it passes at first more often than not; that it fails each time it is looked at is rare
        done = agent.fix("--test", PYTEST, "--max-candidates", "4", "--no-apply", cwd=folder)
        if done.result["status"] == "nothing_to_fix":
            continue
        assert done.code in (1, 53), done.stdout
        assert done.result["status"] in ("not_fixed", "limit") and done.result["patch"] is None
        said = any("flaky" in notice for notice in done.result["notices"])
        if said:
            break
    assert said, done.result["notices"]


def test_two_causes_one_is_found_and_what_remains_is_said(agent, project, git, snapshot) -> None:
    never = "\n\ndef test_never():\n    assert tax('book', 100) == (7, 'euros')\n"
    tests = TESTS.replace("import total", "import tax, total") + never
    folder = project({"shop.py": SHOP, "test_shop.py": tests})
    bad = SHOP.lstrip("\n").replace("net + tax", "net - tax")
    (folder / "shop.py").write_text(bad)
    git(folder, "commit", "-qam", "minus")
    guilty = git(folder, "rev-parse", "HEAD").strip()
    (folder / "other.py").write_text("X = 1\n")
    git(folder, "add", "-A")
    git(folder, "commit", "-qm", "other")
    before = snapshot(folder)
    words = ("--since", "auto", "--test", PYTEST, "--max-candidates", "3")
    done = agent.fix(*words, "--permission-mode", "auto", cwd=folder)
    assert done.code == 53, done.stdout + done.stderr
    found = done.result["regression"]
    assert found["culprit"]["commit"] == guilty
    assert [name.rpartition("::")[2] for name in found["tests"]] == ["test_book"]
    assert [name.rpartition("::")[2] for name in found["other_cause"]] == ["test_never"]
    said = " ".join(done.result["notices"])
    assert "Another cause is behind" in said and "test_never" in said
    assert snapshot(folder) == before

    # What is shown can be put in by hand, and repairs just that.
    git(folder, "apply", "--check", "-", stdin=found["diff"])
    git(folder, "apply", "-", stdin=found["diff"])
    assert (folder / "shop.py").read_text() == SHOP.lstrip("\n")
