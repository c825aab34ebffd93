"""Which checkpoint ranks candidates: the one that comes with deskagent, one that the person names, or none."""

from __future__ import annotations

import json
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path

from deskagent.errors import UsageError
from deskagent.paths import data_dir
from deskagent.repair.model.engine import EngineJudge
from deskagent.repair.model.judge import Judge
from deskagent.repair.model.weights import Weights, read
from deskagent.served import missing

AUTO, NONE = "auto", "none"
MADE = "made.json"
"""Beside a checkpoint's weights: its version, and the number of the questions that it was taught."""
_OWN = Path(str(files("deskagent"))) / "assets" / "models" / "mini"


@dataclass(frozen=True, slots=True)
class Choice:
    """folder: of the checkpoint that ranks; None where the search goes by priors alone. why: in words."""

    folder: Path | None
    why: str


def choose(wanted: str) -> Choice:
    """wanted: `auto`, `none` or a checkpoint's folder. Errors: UsageError for a folder without a checkpoint that can be
    asked, or without the packages that it needs."""
    if wanted == NONE:
        return Choice(None, "none was asked for")
    absent = missing()
    if wanted != AUTO:
        folder = _named(Path(wanted).expanduser())
        if absent:
            raise UsageError(
                f"A model needs the embedded engine, and {absent}.",
                hint="Install it: pip install 'deskagent[engine]'",
            )
        return Choice(folder, "its folder was named")
    chosen = _usual()
    if absent and chosen.folder is not None:
        return Choice(None, f"{absent}; pip install 'deskagent[engine]' has it")
    return chosen


def judge(folder: Path) -> tuple[Judge, Weights]:
    """Who says what the checkpoint in `folder` holds of a candidate, and how much that counts."""
    return EngineJudge(folder), read(folder)


def _usual() -> Choice:
    """The person's own only where it is the newer one: a copy that an earlier version left isn't."""
    mine = data_dir() / "models" / "mini"
    own, other = _version(_OWN), _version(mine)
    if other is not None and (own is None or other > own):
        return Choice(mine, f"version {other}, put there by you")
    if own is None:
        return Choice(None, "this install holds no checkpoint that can be asked")
    beside = "" if other is None else f"; version {other} in {mine} is no newer one"
    return Choice(_OWN, f"version {own}, which comes with deskagent{beside}")


def _named(folder: Path) -> Path:
    if not (folder / "config.json").is_file():
        raise UsageError(
            f"{folder} holds no checkpoint: there is no config.json in it.", hint="Name its folder."
        )
    questions = _made(folder).get("questions")
    if questions is not None and questions != _taught():
        raise UsageError(
            f"{folder} was taught other questions than this version of deskagent asks.",
            hint="Take another checkpoint, or leave --model out for the one that comes with deskagent.",
        )
    return folder


def _version(folder: Path) -> int | None:
    """Of a checkpoint that was taught our questions; None for none."""
    made = _made(folder)
    if not (folder / "config.json").is_file() or made.get("questions") != _taught():
        return None
    version = made.get("version")
    return version if isinstance(version, int) else 0


def _made(folder: Path) -> dict[str, object]:
    try:
        found = json.loads((folder / MADE).read_text("utf-8"))
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def _taught() -> int:
    from engine.prompt.repair import TAUGHT

    return TAUGHT
