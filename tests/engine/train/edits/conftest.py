from __future__ import annotations

import zipfile
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

Made = Callable[[str, str, Mapping[str, str]], Path]


@pytest.fixture
def index(tmp_path) -> Path:
    """A folder of wheels."""
    folder = tmp_path / "index"
    folder.mkdir()
    return folder


@pytest.fixture
def wheel(index) -> Made:
    """Makes a wheel of a version of a package, from its files."""

    def made(name: str, version: str, files: Mapping[str, str], licence: str = "MIT") -> Path:
        path = index / f"{name}-{version}-py3-none-any.whl"
        about = f"{name}-{version}.dist-info"
        metadata = f"Metadata-Version: 2.4\nName: {name}\nVersion: {version}\nLicense-Expression: {licence}\n"
        with zipfile.ZipFile(path, "w") as archive:
            for file, text in files.items():
                archive.writestr(file, text)
            archive.writestr(f"{about}/METADATA", metadata)
            archive.writestr(
                f"{about}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
            )
            archive.writestr(f"{about}/RECORD", "")
        return path

    return made
