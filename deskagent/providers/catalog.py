"""The person's models: a table each in models.toml, by the name that `--model` takes.

    default = "local/qwen"

    ["local/qwen"]
    dialect = "vllm"
    base = "http://localhost:8000/v1"
    model = "Qwen/Qwen3-Coder"
    context = 131072

Only this file, which lies with the person's settings, says where requests go: a project's files never do.
"""

from __future__ import annotations

import difflib
import tomllib
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

from deskagent import paths
from deskagent.errors import UsageError
from deskagent.providers import keys
from deskagent.providers.base import EDITS, Capabilities, Price
from deskagent.providers.dialects import DIALECTS
from deskagent.providers.endpoint import Endpoint
from deskagent.session import settings


@dataclass(frozen=True, slots=True)
class Entry:
    """dialect: a name in `DIALECTS`. base: the server's URL, "" for the dialect's own. model: as the server names it,
    "" for what stands behind the slash of the entry's name. context, output: tokens, as in Capabilities. key: the
    variable that holds the server's key. tiers: that the model tells apart. moves: it keeps the effort in front of the
    conversation. edits: the form in which it changes files best (`base.EDITS`), "" for what the dialect says. file:
    of a GGUF, or the folder of a checkpoint. mmproj: the GGUF that shows it pictures. prompt, cached, written: US
    dollars for a million tokens of each, as in Price."""

    dialect: str
    base: str = ""
    model: str = ""
    context: int = 32768
    output: int = 0
    key: str = ""
    tools: bool = True
    images: bool = False
    tiers: tuple[str, ...] = ()
    kin: tuple[str, ...] = ()
    moves: bool = False
    edits: str = ""
    file: str = ""
    mmproj: str = ""
    prompt: float = 0.0
    cached: float = 0.0
    written: float = 0.0

    def endpoint(self, name: str) -> Endpoint:
        """Errors: UsageError of its key."""
        provider, _, model = name.partition("/")
        able = Capabilities(
            self.context,
            self.output,
            self.tools,
            self.images,
            self.tiers,
            edits=self.edits or DIALECTS[self.dialect].edits,
            price=Price(self.prompt, self.cached, self.written),
        )
        return Endpoint.of(
            provider,
            self.model or model,
            able,
            self.dialect,
            base=self.base,
            key=keys.key(provider, self.key),
            kin=self.kin,
        )


@dataclass(frozen=True, slots=True)
class Catalog:
    """entries: by name. default: the one that is used where none is named, or "" """

    entries: dict[str, Entry]
    default: str = ""

    def find(self, name: str = "") -> tuple[str, Entry]:
        """Errors: UsageError, with what there is."""
        wanted = name or self.default
        if wanted in self.entries:
            return wanted, self.entries[wanted]
        if not wanted:
            raise UsageError("No model is set up.", hint="Add one: deskagent model add NAME URL --dialect …")
        near = difflib.get_close_matches(wanted, self.entries, 1) or list(self.entries)
        raise UsageError(
            f"There is no model {wanted!r} in {file()}.",
            hint=f"There are: {', '.join(near)}." if near else "Add one: deskagent model add NAME URL",
        )


def seeing() -> list[str]:
    """The names of the models that see pictures. Errors: UsageError."""
    return [name for name, entry in read().entries.items() if entry.images]


def file() -> Path:
    return paths.config_dir() / "models.toml"


def read() -> Catalog:
    """Errors: UsageError, naming the entry and the key."""
    where = file()
    try:
        found = tomllib.loads(where.read_text("utf-8"))
    except FileNotFoundError:
        return Catalog({})
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise UsageError(f"{where} can't be read: {error}.") from error
    default = found.pop("default", "")
    entries = {name: _entry(name, table) for name, table in found.items()}
    if not isinstance(default, str) or (default and default not in entries):
        raise UsageError(f"{where}: the default {default!r} is none of its models.")
    return Catalog(entries, default)


def save(name: str, entry: Entry, *, default: bool = False) -> None:
    """Puts an entry into the file; the rest of it, comments too, stays as it is. Errors: UsageError, TransientError."""
    import tomlkit

    before = read()
    check(name, entry)
    where = file()
    whole = tomlkit.parse(where.read_text("utf-8")) if where.exists() else tomlkit.document()
    plain = asdict(Entry(entry.dialect))
    table = tomlkit.table()
    for key, value in asdict(entry).items():
        if key == "dialect" or value != plain[key]:
            table[key] = list(value) if isinstance(value, tuple) else value
    if name in whole:
        whole.remove(name)
    if default or not before.entries:
        if "default" in whole:
            whole["default"] = name
        else:
            whole = tomlkit.parse(f"default = {tomlkit.string(name).as_string()}\n" + whole.as_string())
    whole.append(tomlkit.key(name), table)
    settings.save(where, whole.as_string(), "save the models")


def use(name: str) -> None:
    """Makes a model the default. Errors: UsageError, TransientError."""
    found, entry = read().find(name)
    save(found, entry, default=True)


def check(name: str, entry: Entry) -> None:
    """Errors: UsageError for an entry that can't be."""
    provider, slash, model = name.partition("/")
    if not provider or not slash or not model or any(ord(c) < 33 for c in name):
        raise UsageError(
            f"{name!r} is no name for a model.", hint="It is PROVIDER/MODEL, such as local/qwen."
        )
    if entry.dialect not in DIALECTS:
        raise UsageError(
            f"{name}: no dialect is called {entry.dialect!r}.", hint=f"Known: {', '.join(DIALECTS)}."
        )
    if entry.edits and entry.edits not in EDITS:
        raise UsageError(f"{name}: {entry.edits!r} is no form of edits.", hint=f"Known: {', '.join(EDITS)}.")
    if entry.context < 1024:
        raise UsageError(f"{name}: a context of {entry.context} tokens is too small to work with.")
    if min(entry.prompt, entry.cached, entry.written) < 0:
        raise UsageError(f"{name}: a price can't be below 0.")
    unknown = set(entry.tiers) - {"low", "high", "max"}
    if unknown:
        raise UsageError(f"{name}: {', '.join(sorted(unknown))} is no tier; there are low, high and max.")


def _entry(name: str, table: Any) -> Entry:
    where = file()
    if not isinstance(table, dict):
        raise UsageError(f"{where}: {name} is no table of a model.")
    kinds = {field.name: type(getattr(Entry(""), field.name)) for field in fields(Entry)}
    made: dict[str, Any] = {}
    for key, value in table.items():
        if key not in kinds:
            raise UsageError(
                f"{where}: {name} has {key!r}, which isn't known.", hint=f"Known: {', '.join(kinds)}."
            )
        value = float(value) if kinds[key] is float and type(value) is int else value
        value = tuple(value) if kinds[key] is tuple and isinstance(value, list) else value
        if type(value) is not kinds[key]:
            raise UsageError(
                f"{where}: {key} of {name} is {value!r}, and has to be of type {kinds[key].__name__}."
            )
        made[key] = value
    if "dialect" not in made:
        raise UsageError(f"{where}: {name} doesn't say its dialect.", hint=f"Known: {', '.join(DIALECTS)}.")
    entry = Entry(**made)
    check(name, entry)
    return entry
