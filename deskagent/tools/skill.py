"""Reads a skill: instructions for a kind of work, that the person or a trusted project keeps as files."""

from __future__ import annotations

from collections.abc import Callable

from pydantic import Field

from deskagent.messages import Result
from deskagent.tools.base import Arguments, Context, Effect, Tool, Wish


class SkillArguments(Arguments):
    name: str = Field(min_length=1, description="as you were told of it")
    file: str = Field(
        "", description="a file beside its SKILL.md that it speaks of; empty for the skill itself"
    )


class Skill(Tool[SkillArguments]):
    name = "skill"
    prompt = (
        "Reads a skill that you were told of: how a kind of work is done here. Read it before you do such work. Its "
        "other files are read by `file`."
    )
    arguments = SkillArguments
    looks = True

    def __init__(self, load: Callable[[str, str], str]) -> None:
        self._load = load

    def wish(self, arguments: SkillArguments, context: Context) -> Wish:
        return Wish(
            Effect.NONE, f"skill {arguments.name} {arguments.file}".rstrip(), f"skill:{arguments.name}"
        )

    def run(self, arguments: SkillArguments, context: Context) -> Result:
        return Result.of(self._load(arguments.name, arguments.file))
