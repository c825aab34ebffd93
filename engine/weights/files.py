"""The files of a checkpoint folder: none is read that is no plain file of it, or that is larger than it can be."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

from engine.errors import CheckpointError

INDEX = "model.safetensors.index.json"
LARGEST_INDEX = 200 << 20
"""Bytes: a name and a file for each of a million tensors."""


def inside(folder: Path, name: object) -> Path:
    """The file `name` of `folder`. Errors: CheckpointError where there is none, where it is no plain file, or where
    it leads out of the folder. A hub's cache keeps its files as links into its own `blobs` folder, two levels up."""
    if not isinstance(name, str) or name in ("", ".", "..") or set(name) & set("/\\\0"):
        raise CheckpointError(
            f"{folder}: {name!r} is no plain file name; files have to lie in the folder itself"
        )
    path = folder / name
    if not path.is_file():
        hint = "is no plain file" if path.exists() or path.is_symlink() else "is missing; fetch it again"
        raise CheckpointError(f"{path}: {hint}")
    home = folder.resolve()
    allowed = {home} | ({home.parent.parent / "blobs"} if home.parent.name == "snapshots" else set())
    target = path.resolve()
    if target.parent not in allowed:
        raise CheckpointError(f"{path}: leads out of the checkpoint to {target}; put the file itself there")
    return path


def read_json(folder: Path, name: str, largest: int) -> Any:
    """What stands in a JSON file of at most `largest` bytes. Errors: CheckpointError."""
    path = inside(folder, name)
    try:
        with path.open("rb") as file:
            # As much as there is, not as much as may be: Python takes the memory before it reads.
            raw = file.read(min(os.fstat(file.fileno()).st_size, largest) + 1)
    except OSError as error:
        raise CheckpointError(f"{path}: {error.strerror}") from error
    if len(raw) > largest:
        raise CheckpointError(f"{path}: over {largest} bytes, which no {name} has")
    return parse(raw, path)


def parse(raw: bytes, path: Path) -> Any:
    """JSON in which no object has a key twice. Errors: CheckpointError, naming `path`."""
    try:
        return json.loads(raw, object_pairs_hook=_no_twins)
    except (ValueError, RecursionError) as error:
        raise CheckpointError(f"{path}: damaged: {error}") from error


def shards(folder: Path) -> list[Path]:
    """The checkpoint's safetensors files, by its index or all of the folder. Errors: CheckpointError."""
    if (folder / INDEX).exists():
        listed = read_json(folder, INDEX, LARGEST_INDEX)
        weights = listed.get("weight_map") if isinstance(listed, dict) else None
        if not isinstance(weights, dict) or not all(isinstance(name, str) for name in weights.values()):
            raise CheckpointError(f"{folder / INDEX}: no weight_map of file names in it")
        wanted = sorted(set(weights.values()))
        others = [name for name in wanted if not name.endswith(".safetensors")]
        if others:
            raise CheckpointError(
                f"{folder / INDEX}: {others[0]} is no safetensors file; nothing else is read"
            )
    else:
        wanted = sorted(path.name for path in folder.glob("*.safetensors"))
    if not wanted:
        pickles = sorted(
            path.name for end in ("bin", "pt", "pth", "ckpt", "pkl") for path in folder.glob(f"*.{end}")
        )
        hint = f"; {pickles[0]} is a pickle, which can run code and is never read" if pickles else ""
        raise CheckpointError(f"{folder}: no safetensors files{hint}")
    return [inside(folder, name) for name in wanted]


def _no_twins(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        seen: set[str] = set()
        twin = next(key for key, _ in pairs if key in seen or seen.add(key))
        raise ValueError(f"{twin!r} stands there twice")
    return found
