"""Which secrets are found, also behind links and other mounts, and what is left readable beside them."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deskagent.terminal.sandbox.landlock import readable
from deskagent.terminal.sandbox.secrets import host_sockets, secret_paths


def test_what_is_there_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DESKAGENT_HOME", str(tmp_path / "own"))
    for name in (".ssh", ".config/gcloud", ".config/Bitwarden CLI", "own/data", "own/config", "plain"):
        (tmp_path / name).mkdir(parents=True)
    for name in (".netrc", ".docker/config.json", ".bash_history"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).touch()
    (tmp_path / "store").mkdir()
    (tmp_path / ".aws").symlink_to("store")
    (tmp_path / ".kube").symlink_to("nowhere")
    (tmp_path / ".gnupg").symlink_to(".gnupg")
    found = {
        str(p.relative_to(tmp_path))
        for p in secret_paths({"HOME": str(tmp_path)})
        if p.is_relative_to(tmp_path)
    }
    assert found == {
        *(".ssh", ".config/gcloud", ".config/Bitwarden CLI", "own/data", "own/config"),
        *(".netrc", ".docker/config.json", ".bash_history", "store"),
    }


@pytest.mark.parametrize("home", ["", "/", "relative", "/absent", "/dev/null", "/\0"])
def test_odd_homes(home: str) -> None:
    assert Path("/") not in secret_paths({"HOME": home.replace("\0", "")})


def test_other_mounts_of_the_same_files(tmp_path: Path) -> None:
    """In a mount namespace of its own: the home is mounted a second time."""
    (tmp_path / "home/.ssh").mkdir(parents=True)
    (tmp_path / "again").mkdir()
    code = (
        "from deskagent.terminal.sandbox.secrets import secret_paths\n"
        "import sys; print(*[p for p in secret_paths({'HOME': sys.argv[1]}) if p.name == '.ssh'], sep='\\n')"
    )
    line = f'mount --bind "{tmp_path}/home" "{tmp_path}/again" && exec "{sys.executable}" -c "$1" "{tmp_path}/home"'
    done = subprocess.run(
        ["unshare", "--user", "--map-root-user", "--mount", "sh", "-c", line, "sh", code],
        capture_output=True,
        text=True,
    )
    if done.returncode != 0 and "Error" not in done.stderr:
        pytest.skip(f"no mount namespace here: {done.stderr}")
    assert {str(tmp_path / "home/.ssh"), str(tmp_path / "again/.ssh")} <= set(done.stdout.split()), (
        done.stderr
    )


def test_sockets_with_a_path_are_found(monkeypatch: pytest.MonkeyPatch) -> None:
    folder = Path(tempfile.mkdtemp(prefix="s-"))
    try:
        with socket.socket(socket.AF_UNIX) as listener, socket.socket(socket.AF_UNIX) as gone:
            listener.bind(str(folder / "odd ☃ name"))
            gone.bind(str(folder / "gone"))
            (folder / "gone").unlink()
            found = host_sockets()
            assert folder / "odd ☃ name" in found
            assert folder / "gone" not in found
        with socket.socket(socket.AF_UNIX) as listener:
            monkeypatch.chdir(folder)
            listener.bind("relative")
            assert folder / "relative" in host_sockets()
    finally:
        shutil.rmtree(folder)


names = st.sampled_from(["a", "b", "c"])
places = st.lists(names, min_size=1, max_size=4).map(lambda parts: "/".join(parts))


@settings(deadline=None)
@given(files=st.sets(places, max_size=8), holes=st.sets(places, max_size=4))
def test_all_but_the_holes_is_covered(files: set[str], holes: set[str]) -> None:
    with tempfile.TemporaryDirectory() as name:
        top = Path(os.path.realpath(name))
        for file in files:
            if (
                not any((top / parent).is_file() for parent in Path(file).parents)
                and not (top / file).is_dir()
            ):
                (top / file).parent.mkdir(parents=True, exist_ok=True)
                (top / file).touch()
        closed = {top / hole for hole in holes if (top / hole).exists()}
        covered = list(readable(top, closed))
        for path in top.rglob("*"):
            hidden = any(path.is_relative_to(hole) for hole in closed)
            leads_to_one = any(hole.is_relative_to(path) for hole in closed)
            assert any(path.is_relative_to(c) for c in covered) == (not hidden and not leads_to_one)
