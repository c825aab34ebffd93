import subprocess

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from deskagent.repair.diff import readable, unified

LINE = st.binary(max_size=4).map(lambda b: b.replace(b"\0", b"x"))
TEXT = st.lists(st.tuples(LINE, st.sampled_from([b"\n", b"\r\n", b"\r"])), max_size=8).map(
    lambda lines: b"".join(a + b for a, b in lines)
)


def applied(folder, changes):
    for path, (before, _) in changes.items():
        file = folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        if before is not None:
            file.write_bytes(before)
        elif file.exists():
            file.unlink()
    patch = unified(changes)
    if patch:
        command = ["git", "-c", "core.autocrlf=false", "apply", "--whitespace=nowarn", "-"]
        subprocess.run(command, cwd=folder, input=patch, check=True, capture_output=True)
    return {path: (folder / path).read_bytes() if (folder / path).exists() else None for path in changes}


@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(TEXT, TEXT, LINE, LINE)
def test_git_applies_it_exactly(tmp_path, before, after, tail, other):
    changes = {"a.py": (before + tail, after + other)}
    assert applied(tmp_path, changes) == {"a.py": after + other}


@pytest.mark.parametrize(
    "edit", [(0, 1, [b"x\n"]), (200, 200, [b"\n", b"\n"]), (150, 260, []), (399, 400, [b"end"]), (0, 400, [])]
)
def test_long_files(tmp_path, edit):
    lines = [b"%d\n" % (i % 7) for i in range(400)]
    start, end, new = edit
    after = b"".join(lines[:start] + new + lines[end:])
    changes = {"a.py": (b"".join(lines), after)}
    assert applied(tmp_path, changes) == {"a.py": after}
    assert unified(changes).count(b"\n ") <= 6, "no more context than asked for"


@pytest.mark.parametrize("path", ["a b.py", "dir/ü.py", 'q"uote.py', "tab\there.py"])
def test_odd_names_new_and_gone_files(tmp_path, path):
    (tmp_path / "x").mkdir()
    assert applied(tmp_path / "x", {path: (b"1\r\n2", b"1\r\n3")}) == {path: b"1\r\n3"}
    assert applied(tmp_path / "x", {path: (None, b"new\n")}) == {path: b"new\n"}
    assert applied(tmp_path / "x", {path: (b"old\n", None)}) == {path: None}


def test_several_files_and_nothing():
    assert unified({"a": (b"x", b"x")}) == b"" == unified({})
    both = unified({"b": (b"1\n", b"2\n"), "a": (b"1\n", b"2\n")}).decode()
    assert both.index("a/a") < both.index("a/b")


def test_people_read_it_in_its_own_encoding():
    before = "# coding: latin-1\r\nx = 'é'\r\n".encode("latin-1")
    text = readable({"x.py": (before, before.replace(b"x =", b"y ="))})
    assert "-x = 'é'\n+y = 'é'\n" in text and "\r" not in text
    wide = [b"\xff\xfe" + t.encode("utf-16-le") for t in ("héllo\n", "hallo\n")]
    assert "-héllo\n+hallo\n" in readable({"x.txt": (wide[0], wide[1])})
    assert "+\ufffd" in readable({"x.txt": (b"a\n", b"\xff\xfe\n")}) or "+" in readable(
        {"x": (b"a", b"\xff")}
    )


def test_a_missing_last_line_end_is_marked():
    assert unified({"a": (b"x\n", b"x")}).endswith(b"-x\n+x\n\\ No newline at end of file\n")
