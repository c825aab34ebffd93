"""A person's and a trusted project's own commands: `commands/NAME.md`, called in `chat` as /NAME WORDS.

`$ARGUMENTS` in the text stands for all words behind the name, `$1` … `$9` for one each. The text is what the model is
told: it runs nothing here, and front matter of it gives no rights.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping
from pathlib import Path

from deskagent.agent.given.found import Given, Warn, given

_PLACE = re.compile(r"\$(ARGUMENTS|[1-9])(?!\w)")


def commands(project: Path, *, trusted: bool, warn: Warn, taken: Mapping[str, object]) -> dict[str, Given]:
    """By name. taken: names that built-in commands have, which they keep."""
    found = given("commands", project, trusted=trusted, warn=warn)
    for name in [name for name in found if name in taken]:
        warn(f"{found[name].path}: /{name} is a command of deskagent's own; give it another name.")
        del found[name]
    return found


def expanded(command: Given, words: str) -> str:
    """What the model is told. words: all behind the name, as typed."""
    try:
        each = shlex.split(words)
    except ValueError:
        each = words.split()

    def put(found: re.Match[str]) -> str:
        if found[1] == "ARGUMENTS":
            return words
        at = int(found[1]) - 1
        return each[at] if at < len(each) else ""

    text, places = _PLACE.subn(put, command.body)
    return f"{text}\n\n{words}" if words and not places else text
