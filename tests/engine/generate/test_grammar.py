"""Answers under a grammar are of the grammar, at any temperature, with and without drafts; thinking ends at its cap."""

from __future__ import annotations

import json
import re

import pytest

torch = pytest.importorskip("torch")

from engine.errors import RequestError  # noqa: E402
from engine.generate.sample import GREEDY, Sampling  # noqa: E402
from engine.generate.sequence import Request  # noqa: E402
from engine.generate.thinking import CAPS, Thinking  # noqa: E402

SCHEMA = {
    "type": "object",
    "properties": {
        "place": {"enum": ["a.py", "b.py"]},
        "line": {"type": "integer", "minimum": 1, "maximum": 99},
    },
    "required": ["place", "line"],
    "additionalProperties": False,
}
PROMPT = [5, 6, 7, 8]


@pytest.fixture(scope="module")
def grammars(letters):
    pytest.importorskip("llguidance")
    from engine.generate.grammar import Grammars

    return Grammars(letters, 97, 96)


@pytest.mark.parametrize("sampling", [GREEDY, Sampling(2.0, seed=3), Sampling(9.0, seed=4, logprobs=1)])
def test_json_is_of_its_schema(engine, grammars, sampling) -> None:
    grammar = grammars.compile("json_schema", SCHEMA)
    made = engine()
    answers = [made.generate(Request(PROMPT, sampling, 60, grammar=grammar)) for _ in range(2)]
    for _, text, finish in [answer.read() for answer in answers]:
        said = json.loads(text)
        assert said["place"] in ("a.py", "b.py")
        assert 1 <= said["line"] <= 99
        assert (set(said), finish.reason) == ({"place", "line"}, "stop")
        assert " " not in text


@pytest.mark.parametrize(
    ("kind", "source", "pattern"),
    [
        ("regex", "[a-c]{3}-[0-9]+x", "[a-c]{3}-[0-9]+x"),
        ("lark", 'start: ("up" | "down") " " NUMBER\nNUMBER: /[1-9]/', "(up|down) [1-9]"),
    ],
)
def test_other_kinds(engine, grammars, kind, source, pattern) -> None:
    request = Request(PROMPT, Sampling(3.0, seed=1), 200, grammar=grammars.compile(kind, source))
    _, text, finish = engine().generate(request).read()
    assert re.fullmatch(pattern, text)
    assert finish.reason == "stop"


def test_drafts_keep_to_the_grammar_and_change_nothing(engine, grammars) -> None:
    grammar = grammars.compile("regex", "(abcabd|abcabc){6}x")
    ways = [
        Request(PROMPT, Sampling(1.5, seed=2), 60, grammar=grammar, speculated=yes) for yes in (False, True)
    ]
    plain, drafted = (engine().generate(way).read() for way in ways)
    assert plain[0] == drafted[0]
    assert drafted[2].usage.accepted > 0


@pytest.mark.parametrize(
    ("kind", "source", "words"),
    [
        ("regex", "a((", "unclosed group"),
        ("lark", "start: foo", "unknown name"),
        ("json_schema", {"type": "nonsense"}, "nonsense"),
        ("json_schema", "{", "no grammar"),
        ("gbnf", "x", "unknown kind of grammar 'gbnf'; known are json_schema, regex, lark"),
    ],
)
def test_what_is_no_grammar_is_refused(grammars, kind, source, words) -> None:
    with pytest.raises(RequestError, match=words):
        grammars.compile(kind, source)


def test_the_engine_compiles(engine) -> None:
    pytest.importorskip("llguidance")
    made = engine()
    request = Request(PROMPT, GREEDY, 9, grammar=made.grammar("regex", "yes|no"))
    assert made.generate(request).read()[1] in ("yes", "no")
    made.vocabulary, made._grammars = None, None
    with pytest.raises(RequestError, match="need a tokenizer"):
        made.grammar("regex", "a")


MARKS = Thinking((50,), (51, 52), 4)


@pytest.mark.parametrize("prompt", [[*PROMPT, 50], [*PROMPT, 50, 1, 1, 51, 52, 3, 50]])
def test_thinking_ends_at_its_cap(engine, prompt) -> None:
    for sampling in (GREEDY, Sampling(1.0, seed=8, logprobs=2)):
        tokens, _, _ = engine().generate(Request(prompt, sampling, 12, frozenset(), thinking=MARKS)).read()
        free, _, _ = engine().generate(Request(prompt, sampling, 12, frozenset())).read()
        assert tokens[4:6] == [51, 52]
        assert tokens[:4] == free[:4]


def test_a_cap_of_nothing_and_no_cap(engine) -> None:
    prompt = [*PROMPT, 50]
    low = Thinking.of_tier("low", (50,), (51, 52))
    assert CAPS["low"] == 0
    assert engine().generate(Request(prompt, GREEDY, 6, frozenset(), thinking=low)).read()[0][:2] == [51, 52]
    free = engine().generate(Request(prompt, GREEDY, 6, frozenset())).read()[0]
    for thinking in (Thinking.of_tier("max", (50,), (51, 52)), Thinking((49,), (51,), 0)):
        assert engine().generate(Request(prompt, GREEDY, 6, frozenset(), thinking=thinking)).read()[0] == free


def test_an_end_marker_half_said_at_the_cap_is_said_whole() -> None:
    cap = MARKS.start([50])
    for token in (1, 2, 3, 51):
        assert cap.forced() is None
        cap.feed(token)
    said = []
    while cap.thinking:
        said.append(cap.forced())
        cap.feed(said[-1])
    assert said == [51, 52]
    cap.feed(50)
    assert cap.thinking, "it may think again, and its cap counts anew"
    assert cap.forced() is None


def test_a_grammar_waits_for_the_end_of_thinking(engine, grammars) -> None:
    request = Request(
        [*PROMPT, 50], Sampling(1.0, seed=5), 20, grammar=grammars.compile("regex", "yes|no"), thinking=MARKS
    )
    tokens, text, finish = engine().generate(request).read()
    assert text.endswith(("ST" + "yes", "ST" + "no")), "tokens 51 and 52 are S and T here"
    assert len(tokens) in (8, 9)
    assert finish.reason == "stop"
