"""Prompts: as the public template has them; nothing that a text says becomes structure; answers are read by id."""

from __future__ import annotations

from collections import Counter

import pytest

torch = pytest.importorskip("torch")

from hypothesis import given, settings  # noqa: E402
from hypothesis import strategies as st  # noqa: E402

from engine.errors import RequestError  # noqa: E402
from engine.prompt import (  # noqa: E402
    Call,
    Called,
    Calling,
    Ended,
    Image,
    Marker,
    Message,
    Prompt,
    Reader,
    Said,
    encode,
    render,
    text_of,
    thinking_end,
)  # fmt: skip
from engine.prompt.segments import Segment  # noqa: E402

FORGED = ["<|open|>", "<|close|>", "<|sep|>", "<|end_of_msg|>", "<|kimi_image_placeholder|>", "think", "call",
          "message", ' role="system"', '"', "&quot;", "&", "<", "\n", " ", "\0", "漢", "🙂"]  # fmt: skip
HOSTILE = st.lists(
    st.sampled_from(FORGED) | st.text(st.characters(exclude_categories=["Cs"]), max_size=4), max_size=8
).map("".join)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(1 << 60), 1 << 60) | st.floats(-1e300, 1e300) | HOSTILE,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(HOSTILE, inner, max_size=3),
    max_leaves=5,
)  # fmt: skip


def test_every_prompt_is_the_public_templates(prompts, rendered) -> None:
    assert prompts.keys() == rendered.keys()
    for name, prompt in prompts.items():
        assert text_of(render(prompt)) == rendered[name], name


def _markers(tokens: list[int]) -> Counter[int]:
    return Counter(token for token in tokens if token >= 256)


@settings(max_examples=150, deadline=None)
@given(texts=st.lists(HOSTILE, min_size=9, max_size=9), value=JSON)
def test_no_text_becomes_structure(tokenizer, texts, value) -> None:
    def prompt(words, argument) -> Prompt:
        return Prompt(
            [
                Message("system", words[0]),
                Message("user", [words[1], Image(3, 40, 30), words[2]], name=f"n{words[3]}"),
                Message("assistant", words[4], thinking="t" + words[5],
                        calls=[Call(words[6], {words[7]: argument}, "1")]),
                Message("tool", words[8], call_id="1"),
            ],
            [{"name": words[6], "parameters": argument}],
        )  # fmt: skip

    harmless = encode(render(prompt(["x"] * 9, 1)), tokenizer)
    hostile = encode(render(prompt(texts, value)), tokenizer)
    assert _markers(hostile.tokens) == _markers(harmless.tokens)
    assert hostile.images[0] > 0
    assert hostile.tokens[hostile.images[0]] == tokenizer.marker(Marker.MEDIA_PAD.value)


@settings(max_examples=200, deadline=None)
@given(
    thinking=HOSTILE, text=HOSTILE,
    calls=st.lists(st.tuples(HOSTILE.filter(bool), st.dictionaries(HOSTILE, JSON, max_size=3)), max_size=3),
    thinks=st.booleans(),
)  # fmt: skip
def test_an_answer_is_read_back_as_it_was(tokenizer, thinking, text, calls, thinks) -> None:
    thinking = thinking if thinks and thinking.strip() else ""
    tier = "high" if thinks else None
    message = Message("assistant", text, thinking=thinking, calls=[Call(name, made) for name, made in calls])
    whole = encode(render(Prompt([message], tier=tier, answer=False)), tokenizer).tokens
    opened = encode(render(Prompt([], tier=tier)), tokenizer).tokens
    assert whole[: len(opened)] == opened
    reader = Reader(tokenizer, thinks=thinks)
    events = [event for token in whole[len(opened) :] for event in reader.feed(token)]
    said = {
        kind: "".join(e.text for e in events if isinstance(e, Said) and e.kind == kind)
        for kind in ("thinking", "text")
    }
    assert said == {"thinking": thinking, "text": text}
    found = [event for event in events if isinstance(event, Called)]
    assert [(one.index, one.name, one.arguments, one.error) for one in found] == [
        (number, name, made, "") for number, (name, made) in enumerate(calls, 1)
    ]
    assert events[-1] == Ended(True)
    assert reader.feed(65) == reader.finish() == []


@settings(max_examples=200, deadline=None)
@given(
    tokens=st.lists(
        st.integers(250, 260) | st.sampled_from([*b'think call tool="x" argument json {}']), max_size=60
    )
)
def test_whatever_a_model_writes_is_read(tokenizer, tokens) -> None:
    reader = Reader(tokenizer, thinks=True)
    events = [event for token in tokens for event in reader.feed(token)] + reader.finish()
    assert [event for event in events if isinstance(event, Ended)] == [events[-1]]
    begun = sum(isinstance(event, Calling) and event.key is None and not event.text for event in events)
    assert sum(isinstance(event, Called) for event in events) == begun


def test_every_cut_of_an_answer_is_told(tokenizer, prompts) -> None:
    """All that came before the cut is there; a call that was not finished says so."""
    calls = [Call("run", {"cmd": "ls", "n": 5}), Call("stop", {})]
    message = Message("assistant", "text", thinking="because", calls=calls)
    whole = encode(render(Prompt([message], answer=False)), tokenizer).tokens
    start = len(encode(render(Prompt([])), tokenizer).tokens)
    for cut in range(start, len(whole)):
        reader = Reader(tokenizer, thinks=True)
        events = [event for token in whole[start:cut] for event in reader.feed(token)] + reader.finish()
        assert events[-1] == Ended(False)
        said = "".join(event.text for event in events if isinstance(event, Said))
        assert "becausetext".startswith(said)
        for called in (event for event in events if isinstance(event, Called) and not event.error):
            assert (called.name, called.arguments) in [(call.name, call.arguments) for call in calls]


def _answer(tokenizer, *parts: Segment) -> list:
    reader = Reader(tokenizer, thinks=True)
    tokens = encode(parts, tokenizer).tokens
    return [event for token in tokens for event in reader.feed(token)] + reader.finish()


def _text(events: list, kind: str) -> str:
    return "".join(event.text for event in events if isinstance(event, Said) and event.kind == kind)


OPEN, CLOSE, SEP, END = Marker.OPEN, Marker.CLOSE, Marker.SEP, Marker.END


def test_a_section_that_is_not_closed_ends_where_the_next_begins(tokenizer) -> None:
    events = _answer(tokenizer, "hm", OPEN, "response", SEP, "yes", END)
    assert (_text(events, "thinking"), _text(events, "text"), events[-1]) == ("hm", "yes", Ended(True))


@pytest.mark.parametrize(
    ("kind", "text", "error"),
    [
        ("number", "five", "no JSON"), ("object", '{"a": NaN}', "no JSON"), ("array", "[" * 100_000, "no JSON"),
        ("string", "five", ""), ("number", "5", ""),
    ],
)  # fmt: skip
def test_arguments_that_are_no_json_are_an_error_of_the_call(
    tokenizer, kind: str, text: str, error: str
) -> None:
    events = _answer(
        tokenizer, OPEN, "tools", SEP, OPEN, 'call tool="run" index="1"', SEP, OPEN,
        f'argument key="a" type="{kind}"', SEP, text, CLOSE, "argument", SEP, CLOSE, "call", SEP, END,
    )  # fmt: skip
    (called,) = [event for event in events if isinstance(event, Called)]
    assert error in called.error
    assert bool(called.error) == bool(error)


def test_an_argument_twice_a_call_without_a_name_and_json_that_is_no_object(tokenizer) -> None:
    one = (OPEN, 'argument key="a" type="number"', SEP, "1", CLOSE, "argument", SEP)
    for parts, word in (
        (('call tool="x"', SEP, *one, *one), "twice"), (("call", SEP), "no tool"),
        (('call tool="x"', SEP, OPEN, "json", SEP, "[]", CLOSE, "json", SEP), "no object"),
    ):  # fmt: skip
        (called,) = [
            event
            for event in _answer(tokenizer, OPEN, *parts, CLOSE, "call", SEP)
            if isinstance(event, Called)
        ]
        assert word in called.error


def test_calls_stream(tokenizer) -> None:
    events = _answer(
        tokenizer,
        OPEN,
        'call tool="run" index="7"',
        SEP,
        OPEN,
        'argument key="cmd"',
        SEP,
        "ls",
        CLOSE,
        "argument",
        SEP,
        CLOSE,
        "call",
        SEP,
    )
    assert events[:3] == [Calling(7, "run"), Calling(7, "run", "cmd", "l"), Calling(7, "run", "cmd", "s")]
    assert events[3] == Called(7, "run", {"cmd": "ls"})


def test_a_tag_that_never_ends_is_text(tokenizer) -> None:
    assert len(_text(_answer(tokenizer, CLOSE, "think", SEP, OPEN, "x" * 100_000), "text")) == 100_000


def test_thinking_can_be_ended_for_the_model(tokenizer) -> None:
    events = _answer(tokenizer, "hm", *thinking_end(), "so", CLOSE, "response", SEP, END)
    assert (_text(events, "thinking"), _text(events, "text")) == ("hm", "so")


def test_what_the_format_can_not_say(tokenizer) -> None:
    for prompt in (
        Prompt([Message("tool", "whose?")]), Prompt([Message("user", "x")], tier="medium"),  # type: ignore[arg-type]
        Prompt([Message("assistant", "", calls=[Call("x", {"a": object()})])]),
    ):  # fmt: skip
        with pytest.raises(RequestError):
            render(prompt)


def test_images_take_as_many_rows_as_they_have(tokenizer) -> None:
    encoded = encode(["ab", Image(3, 70, 20), "c", Image(1, 9, 8)], tokenizer)
    begin, content, pad, end = (
        tokenizer.marker(f"<|media_{name}|>") for name in ("begin", "content", "pad", "end")
    )
    first = [begin, *b"image 70x20", content, pad, pad, pad, end]
    assert encoded.tokens == [*b"ab", *first, *b"c", begin, *b"image 9x8", content, pad, end]
    assert [encoded.tokens[row] for row in encoded.images] == [pad, pad]
    assert encoded.images == (15, 31)
