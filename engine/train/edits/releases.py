"""Releases of a package: which of them are compared, and their wheels, fetched by pip and never installed or run."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from packaging.utils import InvalidWheelFilename, parse_wheel_filename
from packaging.version import InvalidVersion, Version

from engine.errors import ConfigError
from engine.train.corpus.excluded import normal

MOST = 8
"""Releases of a package."""
_OF_SERIES = 4
"""Releases of a series (those whose first two numbers are the same): most mends come soon after its first."""
_WHEELS = ("--only-binary", ":all:")
"""Wheels alone: pip would run the code of a source distribution to learn its name."""
_LISTED = re.compile(r"^Available versions: (.*)$", re.MULTILINE)


def chosen(versions: Iterable[str], newest: str) -> list[str]:
    """Of all versions those to compare, none newer than `newest`, the oldest first."""
    known = sorted({parsed: text for text in versions if (parsed := _parsed(text)) is not None}.items())
    most = Version(newest)
    series: dict[tuple[int, ...], int] = {}
    taken: list[str] = []
    for version, text in known:
        if version.is_prerelease or version > most:
            continue
        of = version.release[:2]
        series[of] = series.get(of, 0) + 1
        if series[of] <= _OF_SERIES:
            taken.append(text)
    return taken[-MOST:]


def listed(name: str) -> list[str]:
    """All versions that have a wheel for this interpreter. Errors: ConfigError where pip can't tell."""
    done = _pip("index", "versions", *_WHEELS, name)
    found = _LISTED.search(done.stdout)
    if done.returncode or found is None:
        raise ConfigError(f"{name}: pip lists no versions: {_last(done.stderr)}")
    return [version.strip() for version in found[1].split(",")]


def wheels(folder: Path) -> dict[tuple[str, str], Path]:
    """Name, version → the wheel in a folder."""
    found = {}
    for path in folder.glob("*.whl"):
        try:
            name, version, _, _ = parse_wheel_filename(path.name)
        except (InvalidWheelFilename, InvalidVersion):
            continue
        found[normal(name), str(version)] = path
    return found


def fetch(wanted: Sequence[tuple[str, str]], folder: Path) -> None:
    """Has pip put the wheels of several packages, a version of each, into a folder, one after the other; those that it
    can't get aren't there afterwards."""
    there = wheels(folder)
    missing = [each for each in wanted if key(*each) not in there]
    if not missing:
        return
    places = "--cache-dir", str(folder / "cache"), "--dest", str(folder)
    names = [f"{name}=={version}" for name, version in missing]
    done = _pip("download", "--quiet", "--no-deps", *_WHEELS, *places, *names)
    if done.returncode and len(missing) > 1:
        for each in missing:
            fetch([each], folder)


def key(name: str, version: str) -> tuple[str, str]:
    """As `wheels` names one."""
    return normal(name), str(_parsed(version))


def rounds(chosen: Mapping[str, Sequence[str]], size: int) -> Iterable[list[tuple[str, str]]]:
    """Groups of at most `size` releases, no two of one package, as `fetch` takes them."""
    for number in range(max(map(len, chosen.values()), default=0)):
        some = [(name, versions[number]) for name, versions in chosen.items() if number < len(versions)]
        yield from (some[at : at + size] for at in range(0, len(some), size))


def _pip(command: str, *options: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "pip", command, "--disable-pip-version-check", *options],
        capture_output=True, text=True,
    )  # fmt: skip


def _last(said: str) -> str:
    return (said.strip() or "nothing was said").splitlines()[-1]


def _parsed(version: str) -> Version | None:
    """None for what is no version by today's rules."""
    try:
        return Version(version)
    except InvalidVersion:
        return None
