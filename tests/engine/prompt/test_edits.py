from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.errors import RequestError
from engine.prompt.edits import NONE, Edit, apply, between, parse, write

LINES = st.lists(st.text("ab +-1\t", max_size=6), max_size=6).map("\n".join)
CODE = "def area(w, h):\n    return w + h + 1\n"


@given(LINES, LINES)
def test_edits_between_two_texts_lead_from_one_to_the_other_and_are_read_as_written(before, after):
    edits = between(before, after)
    assert parse(write(edits)) == edits
    assert apply(edits, before) == after


@pytest.mark.parametrize(
    ("after", "written"),
    [
        (CODE, NONE),
        (CODE.replace("w + h", "w * h"), "2\n- + h\n+ * h\n"),
        (CODE.replace(" + 1", ""), "2\n-h + 1\n+h\n"),
        (CODE.replace("w + h + 1", "h"), "2\n-w + h + 1\n+h\n"),
        (CODE.replace("    return", "    w = abs(w)\n    return"), "1\n+    w = abs(w)\n"),
        ("def area(w, h):\n", "2\n-    return w + h + 1\n"),
        ("import math\n" + CODE, "0\n+import math\n"),
    ],
)
def test_an_edit_says_what_is_new_and_little_else(after, written):
    assert write(between(CODE, after)) == written


def test_one_line_for_several_is_that_line_gone_and_others_below_it():
    edits = between("a\nb\nc", "a\nx\ny\nc")
    assert edits == [Edit(2, "b", None), Edit(2, None, "x\ny")]
    assert apply(edits, "a\nb\nc") == "a\nx\ny\nc"


@pytest.mark.parametrize(
    "text", ["", "none", "2", "2\n", "-a\n", "2\n+a\n-b\n", "2\n+a", "none\n2\n+a\n", "9" * 9 + "\n+a\n"]
)
def test_what_is_no_edit_is_refused(text):
    with pytest.raises(RequestError, match="edit"):
        parse(text)


@pytest.mark.parametrize(
    ("edit", "said"),
    [
        (Edit(9, None, "x"), "of 3"),
        (Edit(0, "def", "x"), "line 0"),
        (Edit(2, "return 1", None), "isn't what"),
        (Edit(2, "+", "-"), "2 times"),
        (Edit(1, "return", "x"), "0 times"),
    ],
)
def test_an_edit_that_does_not_fit_the_text_is_refused(edit, said):
    with pytest.raises(RequestError, match=said):
        apply([edit], CODE)
