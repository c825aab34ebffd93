"""Which checkpoint ranks candidates: the one that comes with deskagent, one that the person names, or none."""

from __future__ import annotations

import importlib.util
from pathlib import Path

from deskagent.errors import UsageError
from deskagent.paths import data_dir
from deskagent.repair.model.engine import EngineJudge
from deskagent.repair.model.judge import Judge
from deskagent.repair.model.weights import Weights, read

AUTO, NONE = "auto", "none"
_NEEDED = ("torch", "safetensors", "tokenizers")
_OWN = Path(__file__).parents[3] / "assets" / "models" / "mini"


def find(wanted: str) -> tuple[Judge, Weights] | None:
    """wanted: `auto`, `none` or a checkpoint's folder. None where nothing ranks: the search then goes by priors alone.

    Errors: UsageError for a folder without a checkpoint, or without the packages that it needs.
    """
    if wanted == NONE:
        return None
    folders = [data_dir() / "models" / "mini", _OWN] if wanted == AUTO else [Path(wanted).expanduser()]
    folder = next((folder for folder in folders if (folder / "config.json").is_file()), None)
    absent = [name for name in _NEEDED if importlib.util.find_spec(name) is None]
    if wanted == AUTO and (folder is None or absent):
        return None
    if folder is None:
        raise UsageError(
            f"{wanted} holds no checkpoint: there is no config.json in it.", hint="Name its folder."
        )
    if absent:
        raise UsageError(
            f"A model needs the embedded engine, and {' and '.join(absent)} is not installed.",
            hint="Install it: pip install 'deskagent[engine]'",
        )
    return EngineJudge(folder), read(folder)
