"""Packages in folders as pip leaves them: found, locked, gathered."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("numpy")

from engine.errors import CheckpointError, ConfigError
from engine.train.corpus import packages
from engine.train.corpus.corpus import gather


def code(name: str) -> str:
    return "".join(f"def {name}_{n}(value):\n    return value * {n} + {len(name)}\n\n\n" for n in range(12))


def package(folder: Path, name: str, files: dict[str, str], licence: str = "MIT") -> Path:
    site = folder / f"{name}-1.0"
    about = site / f"{name}-1.0.dist-info"
    about.mkdir(parents=True)
    about.joinpath("METADATA").write_text(
        f"Metadata-Version: 2.4\nName: {name}\nVersion: 1.0\nLicense-Expression: {licence}\n"
    )
    for path, text in files.items():
        (site / path).parent.mkdir(parents=True, exist_ok=True)
        (site / path).write_text(text)
    about.joinpath("RECORD").write_text("".join(f"{path},,\n" for path in files))
    return site


def locked(site: Path, name: str, use="train"):
    found = packages.find(name, None, [site])
    assert found is not None
    return found.locked(use)


def test_the_halves_share_no_package_and_no_text(tmp_path) -> None:
    one = package(tmp_path, "one_a", {"one/a.py": code("apple"), "one/b.py": code("banana")})
    two = package(tmp_path, "two", {"two/copy.py": code("apple"), "two/own.py": code("cherry")})
    made = gather([locked(two, "two", "held"), locked(one, "One-A")], tmp_path)
    assert [d.path for d in made.train] == ["one/a.py", "one/b.py"]
    assert [d.path for d in made.held] == ["two/own.py"]
    assert made.dropped == 1


def test_files_that_changed_since_they_were_locked_are_refused(tmp_path) -> None:
    site = package(tmp_path, "one", {"one/a.py": code("apple")})
    known = locked(site, "one")
    (site / "one/a.py").write_text(code("other"))
    with pytest.raises(CheckpointError, match="aren't those that were locked"):
        gather([known], tmp_path)


def test_no_permissive_licence_no_learning(tmp_path) -> None:
    site = package(tmp_path, "one", {"one/a.py": code("apple")}, "GPL-3.0-only")
    with pytest.raises(ConfigError, match="no permissive licence"):
        locked(site, "one")


def test_what_is_measured_on_is_refused_whatever_the_lock_says(tmp_path) -> None:
    site = package(tmp_path, "toolz", {"toolz/a.py": code("apple")})
    with pytest.raises(ConfigError, match="measures on it"):
        locked(site, "toolz")


def test_the_standard_library_is_found_without_its_tests_and_its_copies() -> None:
    found = packages.find("python", None, [])
    assert found is not None
    assert "json/decoder.py" in found.paths
    assert not any(path.startswith(("test/", "site-packages/")) for path in found.paths[:50])
    assert packages.find("python", "1.5", []) is None
