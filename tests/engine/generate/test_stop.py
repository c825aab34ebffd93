"""Stop strings: found in any cut of the text, never given out in part, a million as well as one."""

from __future__ import annotations

import pytest

pytest.importorskip("torch")

from hypothesis import given
from hypothesis import strategies as st

from engine.errors import RequestError
from engine.generate.stop import LONGEST, MOST, Stops, StopStream

WORDS = st.text("ab\u00e9", min_size=1, max_size=4)


def by_hand(text: str, stops: list[str]) -> tuple[str, str | None]:
    for end in range(1, len(text) + 1):
        found = [stop for stop in stops if text[:end].endswith(stop)]
        if found:
            longest = max(found, key=len)
            return text[: end - len(longest)], longest
    return text, None


@given(stops=st.lists(WORDS, max_size=5), pieces=st.lists(st.text("ab\u00e9", max_size=5), max_size=8))
def test_any_cut_of_a_text_ends_where_the_whole_does(stops, pieces) -> None:
    stream = StopStream(Stops(stops))
    given_out = ""
    expected, found = by_hand("".join(pieces), stops)
    for piece in pieces:
        given_out += stream.feed(piece)
        assert expected.startswith(given_out), "what was given out can't be taken back"
    if stream.found is None:
        given_out += stream.rest()
    assert (given_out, stream.found) == (expected, found)


def test_only_what_may_be_a_stop_is_held_back() -> None:
    stream = StopStream(Stops(["END", "\n\n"]))
    assert [stream.feed(piece) for piece in ("one E", "N", "x", "\n", "two\n", "\nmore")] == [
        "one ", "", "ENx", "", "\ntwo", "",
    ]  # fmt: skip
    assert stream.found == "\n\n"
    assert stream.feed("after") == ""


def test_a_million_stop_strings_work() -> None:
    stops = Stops([f"<{number:06d}>" for number in range(1_000_000)])
    stream = StopStream(stops)
    assert stream.feed("text <12345") == "text "
    assert stream.feed("x> <98765") == "<12345x> "
    assert stream.feed("4> more") == ""
    assert stream.found == "<987654>"


@pytest.mark.parametrize(
    ("stops", "words"),
    [
        (["a", ""], "empty stop string"),
        (["x" * (LONGEST + 1)], "stop string of 1025 characters"),
        ((str(n) for n in range(MOST + 1)), "1048577 stop strings"),
    ],
)
def test_bad_stop_strings_are_refused(stops, words) -> None:
    with pytest.raises(RequestError, match=words):
        Stops(stops)
