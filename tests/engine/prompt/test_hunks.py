"""Rules of answers, byte by byte: whatever follows them fits, and what fits follows them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.errors import RequestError
from engine.prompt.edits import apply, between, parse, write
from engine.prompt.hunks import MOST_HUNKS, MOST_LINES, Hunks, State

EXCERPTS = st.lists(st.text("ab é+-1", max_size=6), min_size=1, max_size=12).map("\n".join)


def after(state: State | None, text: str) -> State | None:
    for byte in text.encode():
        state = state.after(byte) if state is not None else None
    return state


@given(EXCERPTS, st.data())
def test_whatever_the_rules_let_pass_fits_the_excerpt(excerpt, data) -> None:
    rules = Hunks.of(excerpt)
    state: State = rules.start()
    written = bytearray()
    for number in range(60):
        if state.complete and (number > 40 or data.draw(st.booleans(), "end")):
            break
        ways = {byte: then for byte in state.follow() if (then := state.after(byte)) is not None}
        assert ways or state.complete, "every beginning has an end"
        if not ways:
            break
        likely = sorted(ways) if len(ways) < 20 else [byte for byte in b"\nab\xc3\xa9+" if byte in ways]
        byte = data.draw(st.sampled_from(likely), "byte")
        state = ways[byte]
        written.append(byte)
    if state.complete:
        edits = parse(written.decode())
        try:
            made = apply(edits, excerpt)
        except RequestError:
            assert len(edits) > 1, "only two edits can be in each other's way"
            return
        assert rules.made(written.decode()) == (None if made == excerpt else made)


@given(EXCERPTS, EXCERPTS)
def test_what_is_written_as_our_checkpoints_are_taught_follows_the_rules(before, now) -> None:
    edits = between(before, now)
    longest = max(
        [max(len((e.old or "").split("\n")), len((e.new or "").split("\n"))) for e in edits], default=0
    )
    state = after(Hunks.of(before).start(), write(edits))
    if not edits or len(edits) > MOST_HUNKS or longest > MOST_LINES:
        assert state is None
    else:
        assert state is not None and state.complete
        assert Hunks.of(before).made(write(edits)) == now


CODE = "def area(w, h):\n    return w + h + w\n"


@pytest.mark.parametrize(
    ("answer", "complete"),
    [
        ("2\n-h\n+w\n", True),
        ("2\n-h\n+w", False),
        ("2\n-    return w + h + w\n", True),
        ("2\n-h + w\n", False),
        ("0\n+import math\n", True),
        ("3\n+import math\n1\n+x\n", None),
        ("2\n-h\n+w\n3\n+x\n", True),
        ("2\n-w\n+", None),
        ("2\n-w\n-\n+w\n", True),
        ("2\n-H", None),
        ("2\n-:\n", None),
        ("1\n-:\n-    return\n+:\n+    yield\n", True),
        ("0\n-", None),
        ("02", None),
        ("4", None),
        ("none\n", None),
        ("2\n+\r", None),
        ("2\n+\0", None),
        ("3\n-\n+x\n", True),
    ],
)
def test_of_single_answers(answer, complete) -> None:
    """complete: None where the answer isn't even a beginning."""
    state = after(Hunks.of(CODE).start(), answer)
    assert (None if state is None else state.complete) == complete
    if complete:
        assert Hunks.of(CODE).made(answer) is not None


def test_bytes_that_are_no_text_do_not_follow() -> None:
    state = after(Hunks.of(CODE).start(), "1\n+")
    assert state is not None and state.free
    begun = state.after(0xC3)
    assert begun is not None and not begun.free
    assert begun.after(ord("a")) is begun.after(ord("\n")) is None
    assert begun.after(0xA9) == state
    assert state.after(0xFF) is None
    with pytest.raises(RequestError, match="no text"):
        Hunks.of("\ud800")


def test_what_changes_nothing_is_nothing() -> None:
    assert Hunks.of(CODE).made("2\n-h\n+h\n") is None
    assert Hunks.of(CODE).made("none\n") is None
