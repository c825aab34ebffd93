"""Prompts in turns: as the public template has them; nothing that a text says becomes structure; answers read by id."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

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
    Message,
    Prompt,
    Said,
    encode,
    format_of,
    text_of,
)  # fmt: skip
from engine.prompt.turns import Turn, render  # noqa: E402
from engine.prompt.turns_read import TurnReader  # noqa: E402
from engine.tokenizer import Tokenizer  # noqa: E402

FORGED = [*(turn.value for turn in Turn), "functions.", "run", ":0", ":", "## Return of ", "{}", '"', "\n", " ", "\0",
          "漢", "🙂"]  # fmt: skip
HOSTILE = st.lists(
    st.sampled_from(FORGED) | st.text(st.characters(exclude_categories=["Cs"]), max_size=4), max_size=8
).map("".join)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(1 << 60), 1 << 60) | st.floats(-1e300, 1e300) | HOSTILE,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(HOSTILE, inner, max_size=3),
    max_leaves=5,
)  # fmt: skip
START = Prompt([])


def _answer(tokenizer, *parts) -> list:
    reader = TurnReader(tokenizer)
    tokens = encode(parts, tokenizer).tokens
    return [event for token in tokens for event in reader.feed(token)] + reader.finish()


def _text(events: list) -> str:
    return "".join(event.text for event in events if isinstance(event, Said))


def test_every_prompt_is_the_public_templates(turns, rendered_turns) -> None:
    assert turns.keys() == rendered_turns.keys()
    for name, prompt in turns.items():
        assert text_of(render(prompt)) == rendered_turns[name], name


def test_a_vocabulary_tells_its_format(tokenizer, turn_tokenizer) -> None:
    assert format_of(tokenizer).name == "tagged"
    found = format_of(turn_tokenizer)
    assert (found.name, found.tiers, found.thinking_end) == ("turns", (), ())
    assert found.render(START) == [Turn.ASSISTANT, "assistant", Turn.MIDDLE]
    assert found.reader(turn_tokenizer, START).feed(65) == [Said("text", "A")]
    thinks = format_of(tokenizer).reader(tokenizer, START)
    assert thinks.feed(65) == [Said("thinking", "A")]
    lacks = Tokenizer(lambda text: [], {}, {Turn.USER.value: 1})
    with pytest.raises(RequestError, match="no known prompt format"):
        format_of(lacks)


def test_what_ends_an_answers_text_is_what_histories_write(tokenizer, turn_tokenizer) -> None:
    for known in (tokenizer, turn_tokenizer):
        found = format_of(known)
        asked = Prompt([Message("user", "hi")], tier=None)
        said = replace(asked, messages=[*asked.messages, Message("assistant", "yes")], answer=False)
        begun = encode(found.render(asked), known).tokens
        whole = encode(found.render(said), known).tokens
        end = encode(["yes", found.text_end], known).tokens
        assert whole[: len(begun) + len(end)] == begun + end


@settings(max_examples=150, deadline=None)
@given(texts=st.lists(HOSTILE, min_size=6, max_size=6), value=JSON)
def test_no_text_becomes_structure(turn_tokenizer, texts, value) -> None:
    def prompt(words, argument) -> Prompt:
        return Prompt(
            [
                Message("system", words[0]),
                Message("user", [words[1], words[2]], name=f"n{words[3]}"),
                Message("assistant", words[4], calls=[Call(words[5], {words[5]: argument}, "1")]),
                Message("tool", words[0], call_id="1"),
            ],
            [{"name": words[5], "parameters": argument}],
        )

    def markers(tokens: list[int]) -> Counter[int]:
        return Counter(token for token in tokens if token >= 256)

    harmless = encode(render(prompt(["x"] * 6, 1)), turn_tokenizer).tokens
    hostile = encode(render(prompt(texts, value)), turn_tokenizer).tokens
    assert markers(hostile) == markers(harmless)


@settings(max_examples=200, deadline=None)
@given(
    text=HOSTILE,
    calls=st.lists(
        st.tuples(
            HOSTILE.filter(bool),
            st.dictionaries(HOSTILE, JSON, max_size=3),
            st.none() | st.sampled_from(["c1", "functions.run:7"]),
        ),
        max_size=3,
    ),
)
def test_an_answer_is_read_back_and_said_again_the_same(turn_tokenizer, text, calls) -> None:
    message = Message("assistant", text, calls=[Call(*call) for call in calls])
    whole = encode(render(Prompt([message], answer=False)), turn_tokenizer).tokens
    opened = encode(render(START), turn_tokenizer).tokens
    assert whole[: len(opened)] == opened
    reader = TurnReader(turn_tokenizer)
    events = [event for token in whole[len(opened) :] for event in reader.feed(token)]
    assert _text(events) == text
    found = [event for event in events if isinstance(event, Called)]
    assert [(one.index, one.name, one.arguments, one.error) for one in found] == [
        (number, name, made, "") for number, (name, made, _) in enumerate(calls, 1)
    ]
    assert events[-1] == Ended(True)
    assert reader.feed(65) == reader.finish() == []
    earlier = Message("assistant", calls=[Call("x", {})])
    again = replace(message, calls=[Call(one.name, one.arguments, one.id) for one in found])
    longer = encode(render(Prompt([earlier, again], answer=False)), turn_tokenizer).tokens
    assert longer[-len(whole) :] == whole


@settings(max_examples=200, deadline=None)
@given(tokens=st.lists(st.integers(250, 266) | st.sampled_from([*b"functions.x:0 {}"]), max_size=60))
def test_whatever_a_model_writes_is_read(turn_tokenizer, tokens) -> None:
    reader = TurnReader(turn_tokenizer)
    events = [event for token in tokens for event in reader.feed(token)] + reader.finish()
    assert [event for event in events if isinstance(event, Ended)] == [events[-1]]
    begun = [event.index for event in events if isinstance(event, Calling) and not event.text]
    made = [event.index for event in events if isinstance(event, Called)]
    assert made == begun == sorted(set(made))


def test_every_cut_of_an_answer_is_told(turn_tokenizer) -> None:
    calls = [Call("run", {"cmd": "ls", "n": 5}), Call("stop", {})]
    whole = encode(render(Prompt([Message("assistant", "text", calls=calls)], answer=False)), turn_tokenizer)
    start = len(encode(render(START), turn_tokenizer).tokens)
    for cut in range(start, len(whole.tokens)):
        reader = TurnReader(turn_tokenizer)
        events = [e for token in whole.tokens[start:cut] for e in reader.feed(token)] + reader.finish()
        assert events[-1] == Ended(False)
        assert "text".startswith(_text(events))
        for called in (event for event in events if isinstance(event, Called) and not event.error):
            assert (called.name, called.arguments) in [(call.name, call.arguments) for call in calls]


def test_calls_stream(turn_tokenizer) -> None:
    events = _answer(
        turn_tokenizer, Turn.CALLS, Turn.CALL, "functions.run:3", Turn.ARGUMENTS, "{}", Turn.CALL_END, Turn.CALLS_END,
        "after", Turn.END,
    )  # fmt: skip
    assert events[:3] == [Calling(1, "run"), Calling(1, "run", None, "{"), Calling(1, "run", None, "}")]
    assert events[3] == Called(1, "run", {}, "", "functions.run:3")
    assert _text(events) == "after"


@pytest.mark.parametrize(
    ("id", "name"),
    [
        ("functions.run:0", "run"), (" functions.a.b:12\n", "a.b"), ("run:2", "run"), ("functions.run", "run"),
        ("run", "run"), ("functions.a:b:1", "a:b"), ("functions.:0", ""), ("", ""), (":3", ""),
    ],
)  # fmt: skip
def test_ids_tell_the_tool_however_a_model_writes_them(turn_tokenizer, id: str, name: str) -> None:
    events = _answer(turn_tokenizer, Turn.CALL, id, Turn.ARGUMENTS, "{}", Turn.CALL_END)
    (called,) = [event for event in events if isinstance(event, Called)]
    assert called.name == name
    assert bool(called.error) == (name == "")


@pytest.mark.parametrize(
    ("parts", "error"),
    [
        ((Turn.ARGUMENTS, '{"a": NaN}', Turn.CALL_END), "no JSON"),
        ((Turn.ARGUMENTS, "[]", Turn.CALL_END), "no object"),
        ((Turn.ARGUMENTS, "[" * 100_000, Turn.CALL_END), "no JSON"), ((Turn.CALL_END,), "no arguments"),
        ((Turn.ARGUMENTS, "{}", Turn.CALL), "not closed"), ((Turn.ARGUMENTS, "{}", Turn.CALLS_END), "not closed"),
        ((Turn.ARGUMENTS, "{}", Turn.END), "cut off"), ((Turn.ARGUMENTS, "{}"), "cut off"),
        ((Turn.ARGUMENTS, " ", Turn.CALL_END), ""),
    ],
)  # fmt: skip
def test_a_call_that_cannot_be_made_says_why(turn_tokenizer, parts, error: str) -> None:
    events = _answer(turn_tokenizer, Turn.CALLS, Turn.CALL, "functions.run:0", *parts)
    called = next(event for event in events if isinstance(event, Called))
    assert called.name == "run"
    assert error in called.error
    assert bool(called.error) == bool(error)


def test_an_id_that_never_ends_is_text(turn_tokenizer) -> None:
    assert len(_text(_answer(turn_tokenizer, Turn.CALLS, Turn.CALL, "x" * 100_000))) == 100_000


def test_results_name_the_calls_they_answer() -> None:
    calls = [Call("run", {}, "a"), Call("look", {}, "functions.look:9"), Call("look", {}, "functions.run:4")]
    earlier = Message("assistant", calls=[Call("run", {})])
    said = text_of(
        render(
            Prompt(
                [
                    earlier,
                    Message("assistant", calls=calls),
                    Message("tool", "second", call_id="functions.look:9"),
                    Message("tool", "first", call_id="a"),
                    Message("user", "go on"),
                    Message("tool", "whose", name="other", call_id="functions.other:5"),
                ]
            )
        )
    )
    for name, id, result in (
        ("run", "functions.run:1", "first"), ("look", "functions.look:9", "second"),
        ("other", "functions.other:5", "whose"),
    ):  # fmt: skip
        assert f"<|im_system|>{name}<|im_middle|>## Return of {id}\n{result}<|im_end|>" in said
    assert said.index("first") < said.index("second")
    assert "functions.look:3" in said, "an id that names another tool is none of this call"


def test_what_the_format_cannot_say() -> None:
    for prompt in (
        Prompt([Message("tool", "whose?")]), Prompt([Message("user", [Image(3, 9, 9)])]),
        Prompt([Message("assistant", calls=[Call("x", {"a": object()})])]),
        Prompt([Message("system", tools=[{"name": "x"}])]), Prompt([], tool_choice="required"),
        Prompt([], response="json"),
    ):  # fmt: skip
        with pytest.raises(RequestError):
            render(prompt)
