"""Where packages' files are: in environments that are here, or installed into a folder by pip."""

from __future__ import annotations

import platform
import subprocess
import sys
import sysconfig
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from importlib.metadata import Distribution
from pathlib import Path

from engine.errors import CheckpointError, ConfigError
from engine.train.corpus.excluded import excluded, normal
from engine.train.corpus.files import Document, below, digest, documents
from engine.train.corpus.licence import licence_of
from engine.train.corpus.lock import STANDARD_LIBRARY, Package, Use

MOST = 750_000
"""Bytes of one package: a few huge ones would drown the others."""
MOST_OF_LIBRARY = 12_000_000
"""Bytes of the standard library: a hundred small packages of many hands."""
_INSTALL = ("-m", "pip", "install", "--quiet", "--no-deps", "--no-compile", "--only-binary", ":all:")
"""Wheels alone: building a source distribution would run its code."""


@dataclass(frozen=True, slots=True)
class Found:
    """A package's files. paths: under `root`."""

    name: str
    version: str
    licence: str | None
    root: Path
    paths: tuple[str, ...]

    def documents(self) -> list[Document]:
        most = MOST_OF_LIBRARY if self.name == STANDARD_LIBRARY else MOST
        return documents(self.name, self.root, self.paths, most)

    def locked(self, use: Use) -> Package:
        """Errors: ConfigError where the licence isn't permissive, or the project is measured on."""
        refuse(self.name)
        if self.licence is None:
            raise ConfigError(
                f"{self.name} {self.version}: no permissive licence in its metadata; leave it out"
            )
        return Package(self.name, self.version, self.licence, use, digest(self.documents()))


def refuse(name: str) -> None:
    """Errors: ConfigError for a project that something is measured on."""
    measured = excluded(name)
    if measured is not None:
        raise ConfigError(f"{name}: {measured} measures on it, so it can't be learnt from; leave it out")


def standard_library() -> Found:
    """That of the running interpreter."""
    root = Path(sysconfig.get_paths()["stdlib"])
    paths = tuple(path for path in below(root) if not path.startswith("test/"))
    return Found(STANDARD_LIBRARY, platform.python_version(), "PSF-2.0", root, paths)


def find(name: str, version: str | None, folders: Sequence[Path]) -> Found | None:
    """A package among those installed in `folders` (site-packages), of that version or any."""
    if name == STANDARD_LIBRARY:
        own = standard_library()
        return own if version in (None, own.version) else None
    wanted = normal(name)
    for folder in folders:
        for found in Distribution.discover(name=wanted, path=[str(folder)]):
            if normal(found.metadata["Name"] or "") == wanted and version in (None, found.version):
                return _found(wanted, found, folder)
    return None


def install(name: str, version: str | None, folder: Path) -> Found:
    """Has pip install a package into a folder of its own under `folder`. Errors: ConfigError where it can't."""
    refuse(name)
    target = folder / f"{normal(name)}-{version or 'newest'}"
    wanted = name if version is None else f"{name}=={version}"
    done = subprocess.run(
        [sys.executable, *_INSTALL, "--target", str(target), wanted], capture_output=True, text=True
    )
    found = find(name, version, [target]) if done.returncode == 0 else None
    if found is None:
        last = (done.stderr.strip() or "nothing was installed").splitlines()[-1]
        raise ConfigError(f"{wanted}: pip can't install it: {last}")
    return found


def checked(package: Package, found: Found) -> list[Document]:
    """The documents of a locked package. Errors: CheckpointError where they aren't those that were locked."""
    read = found.documents()
    if digest(read) != package.sha256:
        raise CheckpointError(
            f"{package.name} {package.version}: its files aren't those that were locked;"
            " install it afresh, or lock anew"
        )
    return read


def _found(name: str, found: Distribution, root: Path) -> Found:
    paths = tuple(str(path) for path in found.files or ())
    return Found(name, found.version, licence_of(found), root, paths)


def site_folders(environments: Iterable[Path]) -> list[Path]:
    """The site-packages of the running interpreter and of other environments."""
    own = [Path(sysconfig.get_paths()["purelib"])]
    return [*own, *(path for env in environments for path in sorted(env.glob("lib/python*/site-packages")))]
