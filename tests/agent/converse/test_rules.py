"""Rules allow what they say and nothing wider, and hold back all that they touch."""

from __future__ import annotations

import pytest

from deskagent.agent.converse.rules import Rule, Rules
from deskagent.errors import UsageError
from deskagent.tools import shell
from deskagent.tools.base import Effect, Wish


def line(text: str) -> Wish:
    found = shell.read(text)
    return Wish(Effect.RUN, text, f"run:{text}", commands=found.commands if found.clear else ())


def edit(*paths: str) -> Wish:
    return Wish(Effect.WRITE, "diff", "edit", paths=paths)


def allowed(rule: str, text: str) -> bool:
    return Rules.parse(allow=[rule]).allowed("terminal", line(text)) is not None


@pytest.mark.parametrize(
    ("rule", "text"),
    [
        ("terminal(git status)", "git status"),
        ("terminal(npm run *)", "npm run build && npm run test"),
        ("terminal(find *)", "find . -name x"),
        ("terminal(pytest *)", "pytest -q tests/test_a.py"),
        ("terminal(python -m pytest -q)", "python -m pytest -q"),
        ("terminal", "anything $(at all)"),
        ("*", "ls"),
    ],
)
def test_what_a_rule_allows(rule: str, text: str) -> None:
    assert allowed(rule, text)


@pytest.mark.parametrize(
    ("rule", "text"),
    [
        ("terminal(git status)", "git status --porcelain"),
        ("terminal(git status)", "git status; rm -rf x"),
        ("terminal(ls *)", "ls $(rm x)"),
        ("terminal(ls *)", "lsof"),
        ("terminal(echo *)", "echo a$IFS"),
        ("terminal(echo *)", "echo x > y"),
        ("terminal(find *)", "find . -exec rm {} +"),
        ("terminal(find *)", "find . -delete"),
        ("terminal(find *)", "find . -fprintf out x"),
        ("terminal(rg *)", "rg --pre ./evil x"),
        ("terminal(rg *)", "rg --pre=./evil x"),
        ("terminal(sort *)", "sort -oout x"),
        ("terminal(sort *)", "sort --outp=out x"),
        ("terminal(git *)", "git fetch --upload-pack=evil origin"),
        ("terminal(git *)", "git -c core.sshCommand=evil fetch"),
        ("terminal(git log *)", "git log --output=x"),
        ("terminal(sed *)", "sed -n w/etc/x file"),
        ("terminal(python *)", "python -c 'print(1)'"),
        ("terminal(env *)", "env rm x"),
        ("terminal( *)", "rm x"),
        ("terminal(*)", "rm x"),
        ("terminal()", "rm x"),
        ("read", "ls"),
    ],
)
def test_what_a_rule_does_not_allow(rule: str, text: str) -> None:
    assert not allowed(rule, text)


def test_several_rules_together_allow_a_line_of_several_commands() -> None:
    rules = Rules.parse(allow=["terminal(ls *)", "terminal(git status)"])
    assert rules.allowed("terminal", line("ls src && git status")) == "terminal(ls *), terminal(git status)"
    assert rules.allowed("terminal", line("ls src && git push")) is None


def test_files_are_allowed_by_pattern_only_all_together() -> None:
    rules = Rules.parse(allow=["edit(/src/**)"])
    assert rules.allowed("edit", edit("src/a.py"))
    assert not rules.allowed("edit", edit("src/a.py", "setup.py"))
    assert not rules.allowed("write", edit("src/a.py"))


@pytest.mark.parametrize(
    "text", ["rm -rf x", "ls && rm -rf x", "/bin/rm -rf x", "x=$(rm -rf y)", "sudo rm -rf x"]
)
def test_what_is_denied_is_found_anywhere_in_a_line(text: str) -> None:
    assert Rules.parse(deny=["terminal(rm *)"]).denied("terminal", line(text))


def test_what_is_denied_of_files_holds_for_any_of_them() -> None:
    rules = Rules.parse(deny=["*(secrets/)"], ask=["edit(*.lock)"])
    assert rules.denied("edit", edit("src/a.py", "secrets/key"))
    assert rules.asked("edit", edit("uv.lock")) and not rules.asked("edit", edit("a.py"))


@pytest.mark.parametrize("text", ["", "a b", "terminal(", "rm -rf /", "read()x"])
def test_what_is_no_rule_is_refused(text: str) -> None:
    with pytest.raises(UsageError):
        Rule.parse(text)


@pytest.mark.parametrize("text", ["read", "terminal(git status)", "edit(src/**)", "*"])
def test_a_rule_is_written_as_it_is_read(text: str) -> None:
    assert str(Rule.parse(text)) == text


@pytest.mark.parametrize(
    ("rule", "host", "fits"),
    [
        ("fetch(docs.python.org)", "docs.python.org", True),
        ("fetch(domain:Docs.Python.org.)", "docs.python.org", True),
        ("fetch(docs.python.org)", "evil-docs.python.org", False),
        ("fetch(*.python.org)", "docs.python.org", True),
        ("fetch(*.python.org)", "python.org", False),
        ("fetch(*.python.org)", "evilpython.org", False),
        ("fetch(*)", "python.org", False),
        ("fetch", "python.org", True),
    ],
)
def test_hosts_are_named_one_by_one_or_below_one(rule: str, host: str, fits: bool) -> None:
    wish = Wish(Effect.NETWORK, "GET", "k", host=host)
    assert Rule.parse(rule).allows("fetch", wish) is Rule.parse(rule).touches("fetch", wish) is fits


@pytest.mark.parametrize(
    ("rule", "tool", "fits"),
    [
        ("mcp__git", "mcp__git__log", True),
        ("mcp__git__*", "mcp__git__log", True),
        ("mcp__git__log", "mcp__git__log", True),
        ("mcp__git__log", "mcp__git__log_all", False),
        ("mcp__git__log*", "mcp__git__log_all", True),
        ("mcp__git", "mcp__github__log", False),
        ("mcp__git__*", "mcp__github__log", False),
        ("*", "mcp__git__log", True),
    ],
)
def test_servers_and_their_tools_are_named(rule: str, tool: str, fits: bool) -> None:
    wish = Wish(Effect.OUTSIDE, "call", "k")
    assert Rule.parse(rule).allows(tool, wish) is Rule.parse(rule).touches(tool, wish) is fits


def test_a_rule_of_edits_holds_for_every_form_of_them() -> None:
    held = Rules.parse(deny=["edit(secret/**)", "read(private/**)"])
    for tool in ("edit", "patch", "write"):
        assert held.denied(tool, edit("a.py", "secret/x")) and not held.denied(tool, edit("a.py"))
    assert held.denied("image", edit("private/x.png")) and not held.denied("terminal", edit("private/x"))
    free = Rules.parse(allow=["edit(src/**)"])
    assert free.allowed("patch", edit("src/a.py", "src/b.py"))
    assert not free.allowed("patch", edit("src/a.py", "b.py")) and not free.allowed("write", edit("src/a.py"))
