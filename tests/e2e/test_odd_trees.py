"""Encodings, special files, and the shapes that git gives a folder: each is repaired and undone byte for byte."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

TEST = """
    import unittest

    from {module} import add


    class T(unittest.TestCase):
        def test_add(self):
            self.assertEqual(add(1, 2), 3)

        def test_zero(self):
            self.assertEqual(add(0, 0), 0)
"""
BUGGY = "def add(a, b):\n    return a - b\n"
UNITTEST = "python -m unittest -q"
WORDS = ("add subtracts", "--test", UNITTEST, "--max-candidates", "10")
FILES = {"calc.py": BUGGY, "test_calc.py": TEST.format(module="calc")}


def command(agent, folder, *words):
    return agent.run([*agent.command, *words, "--output-format", "json"], folder)


def repaired(agent, folder, *words, **env):
    """The result of a run that must repair and apply."""
    done = agent.fix(*(words or WORDS), cwd=folder, **env)
    assert done.code == 0, (done.stdout, done.stderr)
    assert (done.result["status"], done.result["applied"]) == ("fixed", True)
    return done.result


SOURCES = {
    "bom": ("\ufeff" + BUGGY.replace("\n", "\r\n")).encode(),
    "cp1252": ("# -*- coding: cp1252 -*-\n# Größe in €\n" + BUGGY).encode("cp1252"),
}


@pytest.mark.parametrize("encoding", SOURCES)
def test_encodings_and_special_files(agent, project, snapshot, encoding):
    raw = SOURCES[encoding]
    others = {
        "notes-utf16.txt": "return a - b\n".encode("utf-16"),
        "utf16.py": BUGGY.encode("utf-16"),
        "names-cp1252.py": "NAME = 'Zoë €'\n".encode("cp1252"),
        "names-bom.py": ("\ufeffNAME = 'Zoë'\n").encode(),
    }
    folder = project({**FILES, "calc.py": raw, **others})
    with (folder / "huge.bin").open("wb") as huge:
        huge.truncate(5_000_000_000)
    os.mkfifo(folder / "fifo")
    os.mkfifo(folder / "fifo.py")
    (folder / "loop").symlink_to("loop")
    (folder / "deep").mkdir()
    (folder / "deep" / "up").symlink_to("..", target_is_directory=True)
    listening = socket.socket(socket.AF_UNIX)
    before = {name: (folder / name).read_bytes() for name in (*FILES, *others)}
    here = Path.cwd()
    os.chdir(folder)  # a socket's name has 107 bytes at most
    try:
        listening.bind("socket")
    finally:
        os.chdir(here)
    with listening:
        repaired(agent, folder)
        assert (folder / "calc.py").read_bytes() == raw.replace(b"a - b", b"a + b")
        assert command(agent, folder, "undo").code == 0
    assert {name: (folder / name).read_bytes() for name in before} == before
    assert (folder / "huge.bin").stat().st_size == 5_000_000_000
    assert (folder / "fifo").is_fifo() and (folder / "fifo.py").is_fifo() and (folder / "socket").is_socket()
    assert (folder / "loop").readlink() == Path("loop")


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le"])
def test_a_file_to_repair_that_python_cannot_read(agent, project, snapshot, encoding):
    folder = project({**FILES, "calc.py": BUGGY.encode(encoding)})
    before = snapshot(folder)
    result = agent.fix(*WORDS, cwd=folder).result
    assert (result["status"], result["exit_code"]) == ("not_fixed", 1)
    assert any("calc.py" in said and "UTF-16" in said and "UTF-8" in said for said in result["notices"])
    assert snapshot(folder) == before


def test_submodules_and_worktrees(agent, project, git, tmp_path, snapshot):
    inner = tmp_path / "inner"
    inner.mkdir()
    (inner / "calc.py").write_text(BUGGY)
    (inner / "test_calc.py").write_text(textwrap.dedent(FILES["test_calc.py"]))
    git(inner, "init", "-q")
    git(inner, "add", "-A")
    git(inner, "commit", "-qm", "inner")
    above = project({"test_above.py": TEST.format(module="lib.calc"), "lib_init.txt": "x\n"})
    git(above, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(inner), "lib")
    git(above, "commit", "-qm", "with a submodule")
    source = above / "lib" / "calc.py"

    # From above, where the submodule's file is to be repaired, and from within it.
    for folder, start in ((above, above), (above / "lib", above / "lib")):
        before = snapshot(above)
        repaired(agent, start)
        assert source.read_text() == BUGGY.replace("-", "+")
        assert git(above / "lib", "--no-optional-locks", "status", "--porcelain") == " M calc.py\n"
        assert command(agent, folder, "undo").code == 0
        assert snapshot(above) == before

    # A worktree of the inner repository: its .git is a file that leads elsewhere.
    tree = tmp_path / "tree"
    git(inner, "worktree", "add", "-q", str(tree))
    untouched = snapshot(inner / ".git")
    repaired(agent, tree)
    assert (tree / "calc.py").read_text() == BUGGY.replace("-", "+")
    assert (inner / "calc.py").read_text() == BUGGY
    assert command(agent, tree, "undo").code == 0
    assert (tree / "calc.py").read_text() == BUGGY
    assert snapshot(inner / ".git") == untouched


def test_a_stale_index_lock_and_files_that_somebody_changed(agent, project, snapshot):
    folder = project(FILES)
    lock = folder / ".git" / "index.lock"
    lock.touch()
    before = snapshot(folder)
    result = repaired(agent, folder)
    assert lock.exists()
    session = result["session_id"]

    # Somebody goes on working on the repaired file: an undo would lose that.
    mine = (folder / "calc.py").read_text() + "\n\ndef mine():\n    return 1\n"
    (folder / "calc.py").write_text(mine)
    refused = command(agent, folder, "undo")
    assert refused.code == 2 and "Traceback" not in refused.stderr
    assert "calc.py" in refused.stderr and "+def mine():" in refused.stderr and "by hand" in refused.stderr
    kept = [word for word in refused.stderr.split() if f"{session}/blobs/" in word]
    assert Path(kept[0]).read_text() == BUGGY
    assert (folder / "calc.py").read_text() == mine

    # Done as it said, by bringing the file back to what it was, it goes through, lock or no lock.
    (folder / "calc.py").write_text(BUGGY.replace("-", "+"))
    assert command(agent, folder, "undo", session).code == 0
    assert snapshot(folder) == before


def environment(folder: Path) -> Path:
    """An environment in `folder` without anything but the standard library; its site-packages."""
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder], check=True)
    return next(folder.glob("lib/python*/site-packages"))


FINDER = """
import sys
from importlib.machinery import ModuleSpec, PathFinder
from importlib.util import spec_from_file_location
from pathlib import Path

MAPPING = {mapping!r}


class Finder:
    @classmethod
    def find_spec(cls, name, path=None, target=None):
        if name in MAPPING:
            root = Path(MAPPING[name])
            return spec_from_file_location(
                name, root / "__init__.py", submodule_search_locations=[str(root)]
            )
        return None


def install():
    if not any(finder is Finder for finder in sys.meta_path):
        sys.meta_path.append(Finder)
"""


@pytest.mark.parametrize("kind", ["pth", "finder"])
def test_editable_installs(agent, project, kind):
    folder = project(
        {
            "pyproject.toml": '[project]\nname = "calc-made"\nversion = "1"\n',
            "src/calcmade/__init__.py": "",
            "src/calcmade/calc.py": BUGGY,
            "tests/test_calc.py": TEST.format(module="calcmade.calc"),
            ".gitignore": ".venv/\n",
        }
    )
    packages = environment(folder / ".venv")
    if kind == "pth":
        (packages / "__editable__.calc_made-1.pth").write_text(f"{folder / 'src'}\n")
    else:
        mapping = {"calcmade": str(folder / "src" / "calcmade")}
        (packages / "__editable___calc_made_1_finder.py").write_text(FINDER.format(mapping=mapping))
        (packages / "__editable__.calc_made-1.pth").write_text(
            "import __editable___calc_made_1_finder; __editable___calc_made_1_finder.install()\n"
        )
    line = ".venv/bin/python -m unittest discover -q -s tests"
    repaired(agent, folder, "add subtracts", "--test", line, "--max-candidates", "10")
    source = folder / "src" / "calcmade" / "calc.py"
    assert source.read_text() == BUGGY.replace("-", "+")
    assert command(agent, folder, "undo").code == 0
    assert source.read_text() == BUGGY


def test_two_runs_on_one_repository_and_later_a_moved_tree(agent, project, git):
    folder = project({**FILES, "sub/keep.txt": "1\n"})
    runs = []
    for start, line in ((folder, UNITTEST), (folder / "sub", "python -m unittest discover -q -s .. -t ..")):
        streams = agent.fix_words("add subtracts", "--test", line, "--max-candidates", "10")
        streams[streams.index("json")] = "stream-json"
        runs.append(agent.start(streams, start))
    ends = [child.communicate(timeout=120) for child in runs]
    results = [json.loads(out.splitlines()[-1]) for out, _ in ends]
    # One of them works, the other is told of it; where the first had ended already, nothing was left to fix.
    worked, other = sorted(results, key=lambda result: result["status"] != "fixed")
    assert [child.returncode for child in runs] == [result["exit_code"] for result in results]
    assert worked["status"] == "fixed", ends
    assert other["status"] in ("error", "nothing_to_fix"), ends
    if other["status"] == "error":
        assert other["exit_code"] == 75 and str(folder) in other["error"]["message"]
    assert (folder / "calc.py").read_text() == BUGGY.replace("-", "+")

    # Named from elsewhere, by the beginning of its id.
    session = worked["session_id"]
    again = agent.fix("-r", session[:-1], cwd=folder.parent).result
    assert (again["session_id"], again["status"], again["resumed"]) == (session, "fixed", True)

    # The tree moves on: the tests are others, the file is another, there is a new commit.
    (folder / "calc.py").write_text("def add(a, b):\n    return 7\n")
    (folder / "test_calc.py").write_text("raise SystemExit(3)\n")
    git(folder, "add", "-A")
    git(folder, "commit", "-qm", "moved on")
    replayed = command(agent, folder.parent, "verify", session)
    assert replayed.code == 0, (replayed.stdout, replayed.stderr)
    assert (replayed.result["status"], replayed.result["moved"]) == ("holds", ["calc.py", "test_calc.py"])
    assert (folder / "calc.py").read_text() == "def add(a, b):\n    return 7\n"
