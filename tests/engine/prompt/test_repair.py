from __future__ import annotations

from engine.prompt import render, text_of
from engine.prompt.repair import MOST_FAILURE, Question, ask


def test_the_question_tells_what_failed_and_numbers_the_lines():
    asked = ask(Question("calc.py", "def f(x):\n    return x", "assert 1 == 2", "f is wrong"))
    assert asked.messages[0].content == (
        "request: f is wrong\nfailed: assert 1 == 2\nfile: calc.py\n1|def f(x):\n2|    return x"
    )
    assert text_of(render(asked)).endswith("<|open|>response<|sep|>")


def test_what_is_not_known_is_left_out_and_a_tier_opens_the_thinking():
    asked = ask(Question("calc.py", "x = 1"), "low")
    assert asked.messages[0].content == "file: calc.py\n1|x = 1"
    assert "thinking_effort=low" in text_of(render(asked))
    assert text_of(render(asked)).endswith("<|open|>think<|sep|>")


def test_of_a_long_failure_the_end_is_kept():
    asked = ask(Question("calc.py", "x = 1", "a" * 5000 + "E   assert 1 == 2"))
    content = asked.messages[0].content
    assert isinstance(content, str)
    assert "E   assert 1 == 2\n" in content and len(content) < MOST_FAILURE + 50
