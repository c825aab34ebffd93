"""What of a model's changes is a repair, and that the candidate makes these bytes again."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deskagent.agent.repairing import patching
from deskagent.agent.repairing.patching import Allowed
from deskagent.agent.repairing.tree import Changed, Tree
from deskagent.agent.sources import Sources
from deskagent.repair.source import SourceError


@pytest.fixture
def sources(project: Path) -> Sources:
    (project / "app.py").write_bytes(b"def one():\r\n    return 2\r\n")
    (project / "test_app.py").write_text("from app import one\n")
    (project / "checks.py").write_text("assert True\n")
    return Sources(project)


def counted(sources: Sources, files: dict[str, bytes], *globs: str, tests: frozenset[str] = frozenset()):
    return patching.counted(Changed(files), sources, Allowed(globs, tests))


@pytest.mark.parametrize(
    "path",
    [
        "test_app.py",
        "tests/data/expected.json",
        "conftest.py",
        "checks.py",
        "pytest.ini",
        "pkg/setup.cfg",
        "pyproject.toml",
        "odd.pth",
        "json.py",
        "pytest/__init__.py",
        "node_modules/x/y.js",
    ],
)
def test_tests_settings_and_stand_ins_never_count(sources: Sources, path: str) -> None:
    patch = counted(sources, {path: b"x = 1\n", "app.py": b"new\r\n"}, tests=frozenset({"checks.py"}))
    assert set(patch.files) == {"app.py"}
    assert any(path in note for note in patch.notes)


def test_only_the_named_files_count_and_what_is_as_before_is_no_change(sources: Sources) -> None:
    assert not counted(sources, {"app.py": b"new\n"}, "other/").files
    assert not counted(sources, {"app.py": sources.read("app.py").raw}).files
    gone = patching.counted(Changed({}, ("app.py",)), sources, Allowed())
    assert not gone.files and "can't delete" in gone.notes[0]
    assert not counted(sources, {"app.py": b"\0\1"}).files


def test_a_new_file_is_made_and_told_as_new(sources: Sources, project: Path) -> None:
    files = {"app.py": b"import more\r\n", "more.py": b"x = 1\n", "empty.py": b""}
    made = patching.candidate(files, sources, "model.tools", "words")
    assert dict(sources.render(made)) == files
    assert sources.changes(files)["more.py"] == (None, b"x = 1\n")
    assert sources.changes(files)["app.py"][0] == b"def one():\r\n    return 2\r\n"
    assert not (project / "more.py").exists()


def test_equal_code_has_the_key_that_the_search_gives_it(sources: Sources) -> None:
    one = patching.candidate({"app.py": b"def one():\r\n    return 1\r\n"}, sources, "a", "a")
    two = patching.candidate({"app.py": b"def one():\r\n    return  1\r\n"}, sources, "b", "b")
    assert one.key == two.key and (one.path, one.line) == ("app.py", 2)


def test_changed_line_ends_are_refused(sources: Sources) -> None:
    with pytest.raises(SourceError, match="line ends"):
        patching.candidate({"app.py": b"def one():\n    return 2\n"}, sources, "a", "a")


@given(
    st.lists(st.sampled_from(["a\n", "b\n", "  c = 'ü'\n", "\n"])),
    st.lists(st.sampled_from(["a\n", "d\n", "\n"])),
)
def test_edits_make_the_very_bytes(
    tmp_path_factory: pytest.TempPathFactory, old: list[str], new: list[str]
) -> None:
    folder = tmp_path_factory.mktemp("any")
    (folder / "x.txt").write_bytes("".join(old).encode())
    after = "".join(new).encode()
    sources = Sources(folder)
    made = patching.candidate({"x.txt": after}, sources, "a", "a")
    assert sources.render(made)["x.txt"] == after


def test_a_tree_says_what_changed_went_and_came(project: Path) -> None:
    for name in ("kept", "changed", "gone"):
        (project / name).write_text(name)
    tree = Tree.of(project, ["kept", "changed", "gone", "never"])
    (project / "changed").write_text("otherwise")
    (project / "gone").unlink()
    (project / "new").write_text("new")
    (project / "binary").write_bytes(b"\0\1")
    (project / "out").symlink_to("/etc/passwd")
    found = tree.changed(["new", "binary", "out"])
    assert found.files == {"changed": b"otherwise", "new": b"new"} and found.gone == ("gone",)
    assert set(found.unread or {}) == {"binary", "out"}
