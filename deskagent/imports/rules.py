"""Permission rules of other agents in our words. What can't be said exactly isn't brought over: it is named instead.

An allowing rule never gets wider than it was: one for every command, or for every tool, is a choice of a mode here.
"""

from __future__ import annotations

import ast
import itertools
import re
from collections.abc import Callable, Iterable
from typing import Any

from deskagent.imports.found import Found, Permission
from deskagent.imports.lines import mapping, words

CLAUDE = {
    "Bash": ("terminal",),
    "Read": ("read",),
    "Edit": ("edit", "write"),
    "MultiEdit": ("edit",),
    "Write": ("write",),
    "Glob": ("glob",),
    "Grep": ("grep",),
    "WebFetch": ("fetch",),
    "TodoWrite": ("todo",),
}
"""Claude Code's tools → ours."""
_OPENCODE = {
    "bash": ("terminal",),
    "read": ("read",),
    "edit": ("edit", "write"),
    "glob": ("glob",),
    "grep": ("grep",),
    "webfetch": ("fetch",),
}
_CODEX = {"allow": "allow", "prompt": "ask", "forbidden": "deny"}
_FORM = re.compile(r"(\w+)(?:\((.*)\))?", re.DOTALL)
_MOST = 200
"""Rules that one pattern with alternatives comes to at most."""

Many = list[str] | None
"""Our rules, None where there is no way to say it."""


def take(found: Found, kind: str, translate: Callable[[str], Many], texts: Iterable[str]) -> None:
    """Adds what `texts` come to as rules that allow, ask or deny."""
    for text in texts:
        ours = translate(text)
        if ours is None:
            found.notes.append(f"The rule {kind} {text!r} can't be said here.")
        elif kind == "allow" and any("(" not in rule and rule in ("terminal", "*") for rule in ours):
            found.notes.append(f"The rule {kind} {text!r} allows everything: see --permission-mode.")
        else:
            found.permissions += [Permission(kind, rule) for rule in ours]


def claude(text: str) -> Many:
    """`Bash(npm run test:*)`, `Read(./.env)`, `WebFetch(domain:example.org)`, `mcp__server__tool`."""
    if re.fullmatch(r"mcp__\w[\w-]*__[\w-]+", text):
        return [text]
    form = _FORM.fullmatch(text.strip())
    if form is None or form[1] not in CLAUDE:
        return None
    tools, of = CLAUDE[form[1]], form[2]
    if of is None or of == "*":
        return list(tools)
    if tools == ("terminal",):
        return _line(of.removesuffix(":*") + " *" if of.endswith(":*") else of)
    if tools == ("fetch",):
        host = of.removeprefix("domain:")
        return [f"fetch({host})"] if of != host and re.fullmatch(r"[\w.-]+", host) else None
    return _paths(tools, of)


def codex(text: str) -> list[tuple[str, Many]]:
    """The calls of `prefix_rule` in a `.rules` file: kind and rules of each."""
    found: list[tuple[str, Many]] = []
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError):
        return [("", None)]
    for node in tree.body:
        call = node.value if isinstance(node, ast.Expr) else None
        if not (isinstance(call, ast.Call) and ast.unparse(call.func) == "prefix_rule"):
            continue
        try:
            given = {word.arg: ast.literal_eval(word.value) for word in call.keywords if word.arg}
        except (ValueError, RecursionError):
            given = {}
        kind = _CODEX.get(words(given.get("decision", "allow")), "")
        found.append((kind, _prefixes(given.get("pattern"))))
    return found


def opencode(found: Found, given: Any) -> None:
    """Adds the rules of a `permission` table: by tool an action, or actions by pattern: the last counts."""
    if isinstance(given, str):
        given = {"*": given}
    for tool, value in mapping(given).items():
        wanted = {"*": value} if isinstance(value, str) else mapping(value)
        everything = words(wanted.get("*"))
        for pattern, action in wanted.items():
            label = f"{tool} {pattern}"
            if action not in ("allow", "ask", "deny"):
                found.notes.append(f"The rule {label!r} can't be read.")
            elif tool not in _OPENCODE:
                if action != "allow":
                    found.notes.append(f"The rule {action} {label!r} can't be said here.")
            elif pattern == "*" and action == "ask":
                continue  # as it is here where nothing else is said
            elif pattern == "*" and action == "deny" and len(wanted) > 1:
                found.notes.append(f"{tool}: what isn't allowed is asked for here, not refused.")
            elif action == "allow" and everything == "allow" and pattern != "*":
                continue  # the rule for everything covers it
            else:
                take(found, action, lambda text, tool=tool: _opencode(tool, text), [pattern])


def _opencode(tool: str, pattern: str) -> Many:
    tools = _OPENCODE[tool]
    if pattern == "*":
        return list(tools)
    if tools == ("terminal",):
        return _line(pattern)
    if tools == ("fetch",):
        return None
    return _paths(tools, pattern)


def _line(pattern: str) -> Many:
    """A command's words, with `*` behind them or none: in between it can't be said."""
    parts = pattern.split()
    plain = parts[:-1] if parts and parts[-1] == "*" else parts
    if not plain or any(re.search(r"[*?()\"'\\|&;<>$`]", word) for word in plain):
        return None
    return [f"terminal({' '.join(parts)})"]


def _paths(tools: Iterable[str], pattern: str) -> Many:
    """A pattern of files in the project, as in .gitignore."""
    if pattern.startswith(("~", "/", "$")) or ".." in pattern or not pattern.strip():
        return None
    return [f"{tool}({'/' + pattern[2:] if pattern.startswith('./') else pattern})" for tool in tools]


def _prefixes(pattern: Any) -> Many:
    if not isinstance(pattern, list) or not pattern:
        return None
    choices = [each if isinstance(each, list) else [each] for each in pattern]
    if not all(isinstance(word, str) and word for each in choices for word in each):
        return None
    lines = list(itertools.islice(itertools.product(*choices), _MOST + 1))
    found = [_line(" ".join((*line, "*"))) for line in lines]
    if len(lines) > _MOST or None in found:
        return None
    return [rule for each in found for rule in each or ()]
