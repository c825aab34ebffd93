"""A provider of each kind of model that the person's list may hold."""

from __future__ import annotations

import importlib.util
import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path

from deskagent import paths
from deskagent.errors import UsageError
from deskagent.providers.base import Provider
from deskagent.providers.catalog import Entry
from deskagent.providers.dialects import DIALECTS
from deskagent.providers.remote import Remote

_USUAL = 32768
"""Tokens of context that a model on this machine gets where nobody says: more takes much memory."""
_ANEW = "Add it anew: deskagent model add"


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
            raise UsageError(f"{name}: the file {file} is gone.", hint=f"{_ANEW} FILE")
    states = paths.cache_dir() / "gguf"
    started = worker(Path(entry.file), entry.context, mmproj=entry.mmproj, states=states)
    return Gguf(entry.endpoint(name), Child(started))


def _embedded(name: str, entry: Entry) -> Provider:
    from deskagent.providers.embedded.provider import Embedded
    from deskagent.served import missing

    folder = Path(entry.file)
    if not (folder / "config.json").is_file():
        raise UsageError(f"{name}: the checkpoint {folder} is gone.", hint=f"{_ANEW} FOLDER")
    if absent := missing():
        raise UsageError(
            f"{name} needs the embedded engine, and {absent}.",
            hint="Install it: pip install 'deskagent[engine]'",
        )
    endpoint = entry.endpoint(name)
    able = replace(endpoint.capabilities, grammar=importlib.util.find_spec("llguidance") is not None)
    return Embedded(replace(endpoint, capabilities=able), folder)


_MAKERS: Mapping[str, Callable[[str, Entry], Provider]] = {"gguf": _gguf, "embedded": _embedded}


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
    return f"gguf/{_plain(file.stem)}", entry


def of_checkpoint(folder: Path, *, context: int = 0) -> tuple[str, Entry]:
    """The name and entry of a checkpoint's folder, by what it says of itself. context: 0 for the usual. This loads the
    engine. Errors: EngineError; UsageError for one that can hold no conversation."""
    from engine.errors import EngineError
    from engine.prompt import Marker, format_of
    from engine.tokenizer import load
    from engine.weights.config_json import read_config

    config = read_config(folder / "config.json")
    try:
        vocabulary = load(folder)
        form = format_of(vocabulary)
    except EngineError as error:
        raise UsageError(f"{folder}: no conversation can be had with it: {error}.") from error
    entry = Entry(
        "embedded",
        file=str(folder.resolve()),
        context=min(context or _USUAL, config.context),
        images=config.vision is not None and vocabulary.has(Marker.MEDIA_PAD.value),
        tiers=form.tiers,
    )
    return f"embedded/{_plain(folder.resolve().name)}", entry


def _plain(name: str) -> str:
    return re.sub("[^A-Za-z0-9._-]+", "-", name)
