"""Looks through programs that run another one (uv, poetry, pdm, tox, make) to the command they would run.

Only where that is plain from files: the environment exists, the recipe is one simple line, nothing is built
before. Everything else stays a command of which only the exit code speaks.
"""

from __future__ import annotations

import base64
import configparser
import hashlib
import os
import re
import shlex
import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from deskagent.repair.interpreter import Surroundings
from deskagent.repair.shellline import parse

_SIZE = 1 << 20


@dataclass(frozen=True)
class Inner:
    """The command inside: its words, where and with what it runs, and in words how it is reached."""

    words: tuple[str, ...]
    at: Surroundings
    how: str


def look_through(words: Sequence[str], at: Surroundings) -> Inner | None:
    """The command that `words` would run, None where it can't be told."""
    recipe = _RECIPES.get(Path(words[0]).name)
    return recipe(list(words), at) if recipe else None


def read_toml(path: Path) -> dict[str, Any]:
    """A TOML file's contents; empty where it is absent, huge or broken."""
    try:
        return tomllib.loads(read_text(path))
    except (tomllib.TOMLDecodeError, RecursionError):
        return {}


def read_ini(path: Path) -> configparser.RawConfigParser:
    """An INI file's contents; empty where it is absent, huge or broken."""
    parser = configparser.RawConfigParser(strict=False, interpolation=None)
    try:
        parser.read_string(read_text(path))
    except configparser.Error:
        return configparser.RawConfigParser()
    return parser


def read_text(path: Path) -> str:
    """The first MiB of a regular file; empty where there is none."""
    try:
        if not path.is_file():
            return ""
        with path.open("rb") as file:
            return file.read(_SIZE).decode("utf-8", "replace")
    except OSError:
        return ""


# --- run in an environment ----------------------------------------------------------------------------------

_UV_PLAIN = {
    *("--frozen", "--locked", "--no-sync", "--offline", "-q", "--quiet"),
    *("--all-extras", "--all-groups", "--dev", "--no-dev"),
}
_UV_VALUED = {"--extra", "--group", "--no-group", "--only-group"}


def _uv(words: Sequence[str], at: Surroundings) -> Inner | None:
    if words[1:2] != ["run"]:
        return None
    rest = _after_options(words[2:], _UV_PLAIN, _UV_VALUED)
    folder = at.env.get("UV_PROJECT_ENVIRONMENT", ".venv")
    return _in_environment(rest, at, [at.cwd / folder, at.project / folder])


def _poetry(words: Sequence[str], at: Surroundings) -> Inner | None:
    if words[1:2] != ["run"]:
        return None
    active = at.env.get("VIRTUAL_ENV")
    own = _poetry_environments(at)
    return _in_environment(words[2:], at, [*([Path(active)] if active else []), at.project / ".venv", *own])


def _poetry_environments(at: Surroundings) -> list[Path]:
    """Poetry's own place for this project, whose name holds a hash of the project's path. Empty unless
    unique."""
    settings = read_toml(at.project / "pyproject.toml")
    name = settings.get("project", {}).get("name") or settings.get("tool", {}).get("poetry", {}).get(
        "name", ""
    )
    digest = hashlib.sha256(os.fsencode(at.project)).digest()
    label = (
        re.sub(r'[ $`!*@"\\\r\n\t]', "_", str(name))[:42]
        + "-"
        + base64.urlsafe_b64encode(digest).decode()[:8]
    )
    cache = Path(
        at.env.get("POETRY_CACHE_DIR")
        or Path(at.env.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "pypoetry"
    )
    found = [path for path in cache.glob("virtualenvs/*") if path.name.startswith(f"{label}-py")]
    return found if len(found) == 1 else []


def _pdm(words: Sequence[str], at: Surroundings) -> Inner | None:
    scripts = read_toml(at.project / "pyproject.toml").get("tool", {}).get("pdm", {}).get("scripts", {})
    if words[1:2] != ["run"] or (words[2:3] and words[2] in scripts):
        return None
    chosen = Path(read_text(at.project / ".pdm-python").strip() or "/-")
    return _in_environment(words[2:], at, [chosen.parent.parent, at.project / ".venv"])


def _rye_or_pipenv(words: Sequence[str], at: Surroundings) -> Inner | None:
    return _in_environment(words[2:], at, [at.project / ".venv"]) if words[1:2] == ["run"] else None


def _in_environment(words: Sequence[str] | None, at: Surroundings, places: Sequence[Path]) -> Inner | None:
    home = next((place for place in places if (place / "pyvenv.cfg").is_file()), None)
    if not words or words[0].startswith("-") or home is None:
        return None
    return Inner(tuple(words), _activated(at, home), f"in the environment {home}")


def _activated(at: Surroundings, home: Path) -> Surroundings:
    path = f"{home / 'bin'}{os.pathsep}{at.env.get('PATH', os.defpath)}"
    return replace(at, env={**at.env, "PATH": path, "VIRTUAL_ENV": str(home)})


def _after_options(words: Sequence[str], plain: set[str], valued: set[str]) -> Sequence[str] | None:
    """What follows the options; None where one is unknown."""
    at = 0
    while at < len(words) and words[at].startswith("-"):
        if words[at] == "--":
            return words[at + 1 :]
        if words[at] not in plain | valued:
            return None
        at += 2 if words[at] in valued else 1
    return words[at:]


def _env(words: Sequence[str], at: Surroundings) -> Inner | None:
    """`env A=1 B=2 program …`, without options."""
    count = 1
    while count < len(words) and re.match(r"[A-Za-z_]\w*=", words[count]):
        count += 1
    if count == len(words) or words[count].startswith("-"):
        return None
    added = dict(word.split("=", 1) for word in words[1:count])
    return Inner(tuple(words[count:]), replace(at, env={**at.env, **added}), "")


# --- recipes of one line --------------------------------------------------------------------------------------


def _tox(words: Sequence[str], at: Surroundings) -> Inner | None:
    """tox with one environment that exists, that doesn't hold a built copy of the project."""
    options, _, given = _cut(words[1:], "--")
    name = options[1] if len(options) == 2 and options[0] in ("-e", "-re") else None
    if options and name is None:
        return None
    made = [
        path.parent.name
        for path in (at.cwd / ".tox").glob("*/pyvenv.cfg")
        if not path.parent.name.startswith(".")
    ]
    ini = read_ini(at.cwd / "tox.ini")
    name = name or (made[0] if len(made) == 1 else None)
    if name not in made or not ini.has_section("testenv"):
        return None
    own = f"testenv:{name}"
    settings = {**dict(ini["testenv"]), **(dict(ini[own]) if ini.has_section(own) else {})}
    top = dict(ini["tox"]) if ini.has_section("tox") else {}
    installs = not any(
        str(value).strip().lower() in ("true", "editable", "skip")
        for value in (
            *(settings.get(key) for key in ("skip_install", "usedevelop", "use_develop", "package")),
            *(top.get(key) for key in ("skipsdist", "no_package")),
        )
    )
    if installs or {"setenv", "set_env", "changedir", "change_dir", "commands_pre"} & settings.keys():
        return None
    commands = settings.get("commands", "").strip()
    line = re.sub(r"\{posargs(?::([^{}]*))?\}", lambda found: shlex.join(given) or found[1] or "", commands)
    if "{" in line:
        return None
    return _one_line(line, _activated(at, at.cwd / ".tox" / name), f"by tox, environment {name}")


def _make(words: Sequence[str], at: Surroundings) -> Inner | None:
    """`make TARGET` with a recipe of one line and no prerequisites."""
    if len(words) != 2 or words[1].startswith("-") or "=" in words[1]:
        return None
    file = next((f for n in ("GNUmakefile", "makefile", "Makefile") if (f := at.cwd / n).is_file()), None)
    recipe = make_recipe(read_text(file), words[1], at.env) if file else None
    return _one_line(recipe, at, f"by {file.name}, target {words[1]}") if recipe and file else None


def make_recipe(makefile: str, target: str, env: Mapping[str, str]) -> str | None:
    """The one line that a target runs, variables put in; None where it is more than that."""
    if re.search(r"^\s*-?include\b|^\s*(?:ifn?eq|ifn?def|define)\b", makefile, re.MULTILINE):
        return None
    text = makefile.replace("\\\n", " ")
    rule = (
        rf"^{re.escape(target)}[ \t]*::?[ \t]*(?P<needs>[^=\n#]*)(?:#.*)?\n"
        r"(?P<recipe>(?:\t.*(?:\n|\Z)|[ \t]*#.*\n|[ \t]*\n)*)"
    )
    found = list(re.finditer(rule, text, re.MULTILINE))
    if len(found) != 1 or found[0]["needs"].strip():
        return None
    lines = [line.strip() for line in found[0]["recipe"].splitlines() if line.startswith("\t")]
    lines = [line.lstrip("@-+ ") for line in lines if line and not re.match(r"[@\-+ ]*(?:#|echo\b)", line)]
    if len(lines) != 1:
        return None
    variables = {
        name: env.get(name, value.strip()) if kind == "?" else value.strip()
        for name, kind, value in re.findall(
            r"^([A-Za-z_]\w*)[ \t]*([?:]?:?)=[ \t]*([^#\n]*)", text, re.MULTILINE
        )
    }
    return _expand(lines[0], {**env, **variables})


def _expand(line: str, variables: Mapping[str, str]) -> str | None:
    for _ in range(8):
        names = re.findall(r"\$[({](\w+)[)}]", line)
        if not names:
            break
        line = re.sub(r"\$[({](\w+)[)}]", lambda found: variables.get(found[1], ""), line)
    return None if re.search(r"\$[^$]|\$$", line.replace("$$", "")) else line.replace("$$", "$")


def _one_line(line: str, at: Surroundings, how: str) -> Inner | None:
    commands = parse(line) if line.strip() else None
    if commands is None or len(commands) != 1 or any(word.globs for word in commands[0]):
        return None
    words = [word.text for word in commands[0]]
    count = next((i for i, word in enumerate(commands[0]) if not word.assigns), len(words))
    if count == len(words):
        return None
    added = dict(word.split("=", 1) for word in words[:count])
    return Inner(tuple(words[count:]), replace(at, env={**at.env, **added}), how)


def _cut(words: Sequence[str], mark: str) -> tuple[Sequence[str], str, Sequence[str]]:
    at = list(words).index(mark) if mark in words else len(words)
    return words[:at], mark, words[at + 1 :]


_RECIPES: dict[str, Callable[[Sequence[str], Surroundings], Inner | None]] = {
    "uv": _uv,
    "poetry": _poetry,
    "pdm": _pdm,
    "rye": _rye_or_pipenv,
    "pipenv": _rye_or_pipenv,
    "env": _env,
    "tox": _tox,
    "make": _make,
    "gmake": _make,
}
