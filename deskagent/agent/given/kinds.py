"""Kinds of subagents: what each is for, its own instructions, the tools that it may use, its model."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from deskagent.agent.given import matter
from deskagent.agent.given.found import Warn, given
from deskagent.agent.given.names import ours


@dataclass(frozen=True, slots=True)
class Kind:
    """says: what it is for. body: its instructions. tools: None where it may use all of its caller's. model: as in the
    person's catalogue, "" for its caller's."""

    name: str
    says: str
    body: str = ""
    tools: tuple[str, ...] | None = None
    model: str = ""


EXPLORE = Kind(
    "explore",
    "looks for something in the project and tells where it is and how it works; changes nothing",
    "You look around and tell what you found: names of files with line numbers, short quotations, how it hangs "
    "together. You can't change anything.",
    ("read", "glob", "grep", "symbols", "skill"),
)
_CALLERS = {"inherit", "default", ""}


def kinds(project: Path, *, trusted: bool, warn: Warn) -> Mapping[str, Kind]:
    """All by name: our own, and those of `agents/*.md`, the person's and a trusted project's."""
    found = {EXPLORE.name: EXPLORE}
    for one in given("agents", project, trusted=trusted, warn=warn).values():
        named = matter.words(one.fields.get("tools"))
        model = matter.line(one.fields.get("model"), 200)
        found[one.name] = Kind(
            one.name,
            one.says or "no description",
            one.body,
            tuple(dict.fromkeys(map(ours, named))) if named and named != ("*",) else None,
            "" if model in _CALLERS else model,
        )
    return found


def told(found: Mapping[str, Kind]) -> str:
    """As the head of a conversation tells them."""
    return "\n".join(
        ["Kinds of subagents that `agent` knows:", *(f"- {k.name}: {k.says}" for k in found.values())]
    )
