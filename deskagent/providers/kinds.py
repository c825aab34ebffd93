"""A provider of each kind of model that the person's list may hold."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from pathlib import Path

from deskagent import paths
from deskagent.errors import UsageError
from deskagent.providers.base import Provider
from deskagent.providers.catalog import Entry
from deskagent.providers.dialects import DIALECTS
from deskagent.providers.remote import Remote

_USUAL = 32768
"""Tokens of context that a GGUF gets where nobody says: more takes much memory."""


def made(name: str, entry: Entry) -> Provider:
    """Errors: UsageError for an address or file that can't be."""
    return _MAKERS.get(DIALECTS[entry.dialect].api, _remote)(name, entry)


def _remote(name: str, entry: Entry) -> Provider:
    return Remote(entry.endpoint(name))


def _gguf(name: str, entry: Entry) -> Provider:
    from deskagent.providers.gguf.child import Child, worker
    from deskagent.providers.gguf.provider import Gguf

    for file in filter(None, (entry.file, entry.mmproj)):
        if not Path(file).is_file():
            raise UsageError(
                f"{name}: the file {file} is gone.", hint="Add it anew: deskagent model add FILE"
            )
    states = paths.cache_dir() / "gguf"
    started = worker(Path(entry.file), entry.context, mmproj=entry.mmproj, states=states)
    return Gguf(entry.endpoint(name), Child(started))


_MAKERS: Mapping[str, Callable[[str, Entry], Provider]] = {"gguf": _gguf}


def of_gguf(file: Path, *, mmproj: str = "", context: int = 0) -> tuple[str, Entry]:
    """The name and entry of a GGUF, by what it says of itself. context: 0 for the usual. Errors: UsageError."""
    from deskagent.providers.gguf.header import header

    found = header(file)
    if not found.context:
        raise UsageError(f"{file} holds no language model ({found.architecture or 'it names none'}).")
    projector = str(Path(mmproj).resolve()) if mmproj else ""
    if projector:
        header(Path(projector))
    entry = Entry(
        "gguf",
        file=str(file.resolve()),
        mmproj=projector,
        context=min(context or _USUAL, found.context),
        images=bool(projector),
        tiers=("low", "high", "max") if "<think>" in found.template else (),
    )
    return f"gguf/{re.sub('[^A-Za-z0-9._-]+', '-', file.stem)}", entry
