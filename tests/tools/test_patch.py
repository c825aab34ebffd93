"""Patches, as diffs or between marks: put in where their lines stand, byte for byte, all of one or nothing."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from deskagent.providers.base import Capabilities
from deskagent.repair.diff import unified
from deskagent.tools import registry
from deskagent.tools.base import ToolError
from deskagent.tools.fitting import fitting
from deskagent.tools.patch import Patch, PatchArguments
from deskagent.tools.read import Read, ReadArguments


def patch(context, text: str, *read: str):
    for name in read:
        Read().run(ReadArguments(path=name), context)
    return Patch().run(PatchArguments(patch=text), context)


def marked(*lines: str) -> str:
    return "\n".join(["*** Begin Patch", *lines, "*** End Patch"])


BEFORE = b"class A:\r\n    def f(self):\r\n        return 1\r\n\r\nclass B:\r\n    def f(self):\r\n        return 1"


@pytest.mark.parametrize(
    "text",
    [
        "--- a/m.py\n+++ b/m.py\n@@ -5,3 +5,3 @@\n class B:\n     def f(self):\n-        return 1\n"
        "\\ No newline at end of file\n+        return 2\n\\ No newline at end of file\n",
        "```diff\n--- m.py\n+++ m.py\n@@ -99,9 +1,2 @@ what\n class B:\n     def f(self):\n-        return 1\n"
        "+        return 2\n```\n",
        "--- m.py\n+++ m.py\n@@ ... @@\n class B:\n     def f(self):  \n-        return 1\n+        return 2\n",
        marked(
            "*** Update File: m.py",
            "@@ class B:",
            "     def f(self):",
            "-        return 1",
            "+        return 2",
        ),
        marked("*** Update File: m.py", "-        return 1", "+        return 2", "*** End of File"),
    ],
)
def test_each_form_changes_its_line_and_no_other_byte(context, project: Path, text: str) -> None:
    (project / "m.py").write_bytes(BEFORE)
    patch(context, text, "m.py")
    assert (project / "m.py").read_bytes() == BEFORE[:-1] + b"2"


def test_files_are_made_moved_and_removed_together(context, project: Path) -> None:
    for name in ("old.txt", "gone.txt"):
        (project / name).write_text("one\ntwo\n")
    text = marked(
        "*** Add File: new/a.txt", "+hello", "+", "*** Update File: old.txt", "*** Move to: b.txt", " one",
        "-two", "+2", "*** Delete File: gone.txt",
    )  # fmt: skip
    patch(context, text, "old.txt", "gone.txt")
    there = {p.relative_to(project).as_posix(): p.read_text() for p in project.rglob("*") if p.is_file()}
    assert there == {"new/a.txt": "hello\n\n", "b.txt": "one\n2\n"}


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("nonsense", "no unified diff"),
        (marked("*** Update File: m.txt", "*oops"), "begins with none of"),
        (marked("*** Update File: m.txt", "-x", "+z"), r"fits 2 places \(lines 1, 3\)"),
        (marked("*** Update File: m.txt", " x", "-y", "-q", "+z"), "fits up to line 2, then there is 'x', not 'q'"),
        (marked("*** Update File: m.txt", "+z"), "only adds"),
        (marked("*** Update File: m.txt", "@@ nowhere", "-y"), "no line 'nowhere'"),
        (marked("*** Add File: m.txt", "+z"), "there already"),
        (marked("*** Add File: ../m.txt", "+z"), "no file in the project"),
        (marked("*** Update File: m.txt", "*** Move to: /tmp/m.txt", "-y"), "no place in the project"),
        (marked("*** Delete File: none.txt"), "There is no file"),
        (marked("*** Update File: m.txt", "-y", "+Y", "*** Delete File: m.txt"), "in two ways"),
        ("diff --git a/m b/m\nGIT binary patch\nliteral 1\n", "binary"),
        (marked("*** Add File: ok.txt", "+z", "*** Update File: m.txt", "-q"), "fits nowhere"),
    ],
)  # fmt: skip
def test_what_can_not_be_put_in_is_said_and_nothing_is_changed(context, project: Path, text, says) -> None:
    (project / "m.txt").write_text("x\ny\nx\n")
    with pytest.raises(ToolError, match=says):
        patch(context, text, "m.txt")
    assert [p.name for p in project.iterdir()] == ["m.txt"] and (project / "m.txt").read_text() == "x\ny\nx\n"


def test_a_file_that_was_not_read_or_has_changed_is_left_alone(context, project: Path) -> None:
    (project / "m.txt").write_text("x\n")
    text = marked("*** Update File: m.txt", "-x", "+y")
    with pytest.raises(ToolError, match="wasn't read"):
        patch(context, text)
    Read().run(ReadArguments(path="m.txt"), context)
    (project / "m.txt").write_text("x\nz\n")
    with pytest.raises(ToolError, match="has changed"):
        patch(context, text)


LINES = st.lists(st.sampled_from(["a", "b", "c ", "", "é"]), max_size=9)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=80, deadline=None)
@given(LINES, LINES, st.booleans(), st.booleans())
def test_an_exact_diff_gives_the_file_that_it_was_made_from(
    context, project: Path, old, new, end, end2
) -> None:
    before = "\n".join(old).encode() + b"\n" * (end and bool(old))
    after = "\n".join(new).encode() + b"\n" * (end2 and bool(new))
    if before == after or not before or not after:
        return
    (project / "m.txt").write_bytes(before)
    diff = unified({"m.txt": (before, after)}).decode()
    patch(context, diff, "m.txt")
    assert (project / "m.txt").read_bytes() == after


def test_what_git_says_of_files_is_understood(context, project: Path) -> None:
    def git(*words: str) -> str:
        return subprocess.run(
            ["git", "-C", project, *words], check=True, capture_output=True, text=True
        ).stdout

    (project / "a b.txt").write_text("x\n")
    (project / "ü.txt").write_text("x\n")
    git("init", "-q")
    git("add", "-A")
    git("-c", "user.name=t", "-c", "user.email=t@localhost", "commit", "-qm", "start")
    git("mv", "a b.txt", "c d.txt")
    (project / "ü.txt").write_text("y\n")
    (project / "empty").touch()
    git("add", "-A")
    diff = git("diff", "--cached", "-M")
    git("reset", "-q", "--hard")
    patch(context, diff, "a b.txt", "ü.txt")
    there = {p.name: p.read_text() for p in project.iterdir() if p.is_file()}
    assert there == {"c d.txt": "x\n", "ü.txt": "y\n", "empty": ""}


@pytest.mark.parametrize(
    ("form", "told"), [("exact", {"edit", "write"}), ("patch", {"patch", "write"}), ("whole", {"write"})]
)
def test_a_model_is_told_of_the_form_that_it_does_best(form: str, told: set[str]) -> None:
    every = registry.tools()
    names = set(fitting(every, Capabilities(32768, edits=form)))
    assert names & {"edit", "patch", "write"} == told and "image" not in names
    assert "image" in fitting(every, Capabilities(32768, images=True))
    assert set(fitting(registry.tools(["edit"]), Capabilities(1000, edits="patch"))) == {"edit"}


def test_a_model_with_little_room_is_told_of_fewer_tools() -> None:
    every = registry.tools()
    told = [set(fitting(every, Capabilities(context))) for context in (32768, 8192, 2048)]
    assert told[0] > told[1] > told[2]
    assert "job" not in told[1] and {"grep", "terminal"} <= told[1]
    assert {"read", "edit", "write", "terminal"} <= told[2] and "glob" not in told[2]
    assert set(fitting(registry.tools(["git", "read"]), Capabilities(4096))) == {"git", "read"}
