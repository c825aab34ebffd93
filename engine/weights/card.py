"""A checkpoint's card: whose licence it is under. Standard library alone, so that it can be asked without torch."""

from __future__ import annotations

import hashlib
import json
import re
from dataclasses import dataclass
from pathlib import Path

from engine.errors import LicenceError
from engine.weights.files import inside

_LARGEST = 4 << 20
_OPEN = re.compile(
    r"(mit|mit-0|apache-2\.0|bsd(-.+)?|0bsd|isc|zlib|unlicense|cc0-1\.0|cc-by-4\.0|mpl-2\.0|bsl-1\.0|wtfpl)"
)
"""Licences that anybody may use the weights under without agreeing to anything."""
_FIELD = re.compile(r"""(license|license_name|license_link)\s*:\s*(['"]?)(.*?)\2\s*""")


@dataclass(frozen=True, slots=True)
class Licence:
    """name: as the card gives it. link: where it is, '' for nowhere. text: the licence file beside the weights."""

    name: str
    link: str
    text: str


def licence_of(folder: Path) -> Licence | None:
    """The licence of its own that the card in README.md's front matter names; None for no card, or one under a common
    open licence. Errors: CheckpointError for a card that leads out of the folder."""
    found = _front_matter(_text(folder, "README.md"))
    name = found.get("license_name") or found.get("license", "")
    if not name or _OPEN.fullmatch(name.lower()):
        return None
    texts = (
        _text(folder, path.name) for path in sorted(folder.iterdir()) if path.name.upper().startswith("LICEN")
    )
    return Licence(name, found.get("license_link", ""), next(texts, ""))


def fingerprint(folder: Path, licence: Licence) -> str:
    """Tells this checkpoint under this licence from others: by its config, its files' names and sizes, and the licence
    itself, so that a changed one is asked for anew."""
    digest = hashlib.sha256(json.dumps([licence.name, licence.link, licence.text]).encode())
    digest.update(_text(folder, "config.json").encode())
    for path in sorted(folder.glob("*.safetensors")):
        digest.update(f"{path.name} {path.stat().st_size}\n".encode())
    return digest.hexdigest()


def check_agreed(folder: Path, agreed: str | None) -> None:
    """agreed: the fingerprint under which somebody agreed to this checkpoint's licence, if anybody did. Errors:
    LicenceError where the checkpoint has a licence of its own and this isn't it."""
    licence = licence_of(folder)
    if licence is not None and fingerprint(folder, licence) != agreed:
        link = f" ({licence.link})" if licence.link else ""
        raise LicenceError(
            f"{folder}: it is under a licence of its own, {licence.name}{link}, which has to be agreed to before it is"
            " used: --accept-license does so"
        )


def _front_matter(card: str) -> dict[str, str]:
    lines = card.lstrip("\ufeff").splitlines()
    if not lines or lines[0].strip() != "---":
        return {}
    found: dict[str, str] = {}
    for line in lines[1:]:
        if line.strip() == "---":
            return found
        if field := _FIELD.fullmatch(line):
            found[field[1]] = field[3]
    return {}


def _text(folder: Path, name: str) -> str:
    if not (folder / name).exists():
        return ""
    with inside(folder, name).open("rb") as file:
        return file.read(_LARGEST).decode("utf-8", "replace")
