"""What counts as the developer's change."""

from __future__ import annotations

import pytest
from judge import PatchDoesNotApply, apply_diff, right, same_code

BEFORE = {"a.py": b"x = 1\n\n\ndef f(a):\n    return a + 1\n", "note.txt": b"one two\n"}
ANSWER = {"a.py": b"x = 1\n\n\ndef f(a):\n    return a + 2\n"}


def test_formatting_and_docstrings_do_not_count():
    after = {**BEFORE, "a.py": b'x   = 1\ndef f(a):\n    """Adds."""\n    # two\n    return (a\n      + 2)\n'}
    assert right(BEFORE, after, (ANSWER,))


def test_code_counts():
    assert not right(BEFORE, {**BEFORE, "a.py": b"x = 1\n\n\ndef f(a):\n    return 2 + a\n"}, (ANSWER,))
    assert not right(BEFORE, BEFORE, (ANSWER,))


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        (b"f(a=1, b=2)", b"f(b=2, a=1)", True),
        (b"f(a=1, **k)", b"f(**k, a=1)", False),
        (b"x = a > b", b"x = b < a", True),
        (b"x = a > b", b"x = a < b", False),
        (b"[x for x in y]", b"[z for z in y]", True),
        (b"[x for x in y]", b"[z for z in x]", False),
        (b"def f():\n    'doc'", b"def f():\n    pass", True),
    ],
)
def test_spellings_of_one_thing(one, other, same):
    assert same_code("a.py", one, other) is same


def test_other_files_must_stay():
    assert not right(BEFORE, {**BEFORE, **ANSWER, "note.txt": b"one three\n"}, (ANSWER,))
    assert not right(BEFORE, {**BEFORE, **ANSWER, "new.py": b""}, (ANSWER,))
    assert not right(BEFORE, {"a.py": ANSWER["a.py"]}, (ANSWER,))


def test_any_answer_will_do():
    other = {"a.py": b"x = 1\n\n\ndef f(a):\n    return 2 + a\n"}
    assert right(BEFORE, {**BEFORE, **other}, (ANSWER, other))


@pytest.mark.parametrize("head", [b"", b"\xef\xbb\xbf"])
def test_same_code_across_line_endings(head):
    assert same_code("a.py", head + b"x = 1\r\ny = 2\r\n", b"x = 1\ny = 2\n")


def test_broken_code_is_never_the_same():
    assert not same_code("a.py", b"def (", b"def  (")
    assert same_code("a.js", b"f( a );\n", b"f(a);")


DIFF = """diff --git a/a.py b/a.py
--- a/a.py
+++ b/a.py
@@ -4,2 +4,3 @@
 def f(a):
-    return a + 1
+    a += 1
+    return a + 1
--- a/note.txt
+++ b/note.txt
@@ -1 +1 @@
-one two
+-- one
"""


def test_apply_diff():
    after = apply_diff(BEFORE, DIFF)
    assert after["a.py"] == b"x = 1\n\n\ndef f(a):\n    a += 1\n    return a + 1\n"
    assert after["note.txt"] == b"-- one\n"


def test_apply_several_hunks():
    before = {"a.py": b"".join(b"v%d = 0\n" % n for n in range(30))}
    diff = "--- a/a.py\n+++ b/a.py\n@@ -1,2 +1,1 @@\n-v0 = 0\n v1 = 0\n"
    diff += "@@ -20,1 +19,3 @@\n v19 = 0\n+new = 1\n+more = 2\n"
    diff += "@@ -29,2 +30,2 @@\n v28 = 0\n-v29 = 0\n+v29 = 9\n\\ No newline at end of file\n"
    lines = apply_diff(before, diff)["a.py"].decode().splitlines()
    assert lines[0] == "v1 = 0"
    assert lines[18:21] == ["v19 = 0", "new = 1", "more = 2"]
    assert (lines[-1], len(lines)) == ("v29 = 9", 31)


def test_apply_diff_of_a_legacy_encoding():
    before = {"a.py": "# coding: cp1252\nx = 'ü'\n".encode("cp1252")}
    after = apply_diff(before, "--- a/a.py\n+++ b/a.py\n@@ -2,1 +2,1 @@\n-x = 'ü'\n+x = 'ö'\n")
    assert same_code("a.py", after["a.py"], "# coding: cp1252\nx = 'ö'\n".encode("cp1252"))


def test_diff_that_does_not_fit():
    with pytest.raises(PatchDoesNotApply, match=r"a\.py:1"):
        apply_diff(BEFORE, "--- a/a.py\n+++ b/a.py\n@@ -1 +1 @@\n-y = 1\n+y = 2\n")
    with pytest.raises(PatchDoesNotApply, match=r"no file b\.py"):
        apply_diff(BEFORE, "--- a/b.py\n+++ b/b.py\n@@ -1 +1 @@\n-y = 1\n+y = 2\n")
