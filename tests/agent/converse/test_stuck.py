"""A rut is noticed, and work that goes on is not taken for one."""

from __future__ import annotations

from deskagent.agent.converse.stuck import SAME, loops, stuck
from deskagent.messages import Answer, Author, Call, Result, Said, Text, Turn, Used


def answer(name: str = "tests", arguments: str = "{}", told: str = "1 failed") -> Answer:
    return Answer((Used(Call("x", name, arguments), Result.of(told)),))


def test_the_same_call_with_the_same_result_is_a_rut_after_some_times() -> None:
    assert stuck([answer()] * (SAME - 1)) is None
    found = stuck([answer()] * SAME)
    assert found is not None and "tests" in found.why


def test_the_order_of_arguments_makes_no_other_call() -> None:
    one, two = answer(arguments='{"a": 1, "b": 2}'), answer(arguments='{"b":2,"a":1}')
    assert stuck([one, two, one]) is not None


def test_the_same_call_with_other_results_is_work() -> None:
    assert stuck([answer(told=f"{n} failed") for n in range(9)]) is None


def test_a_word_of_the_person_begins_anew_and_one_of_ours_does_not() -> None:
    person: Turn = Said((Text("look again"),))
    ours: Turn = Said((Text("new errors"),), Author.DESKAGENT)
    assert stuck([answer(), answer(), person, answer()]) is None
    assert stuck([answer(), ours, answer(), ours, answer()]) is not None


def test_a_round_of_two_calls_is_a_rut_although_each_is_told_something_else_in_between() -> None:
    turns = [answer("read", told="a"), answer("edit", told="b")] * 4
    assert stuck(turns) is not None


def test_an_answer_without_calls_is_no_rut() -> None:
    assert stuck([answer()] * SAME + [Answer((Text("done"),))]) is None


def test_thinking_that_goes_round_is_told_from_thinking_that_repeats_words() -> None:
    assert loops("Wait, let me check the parser again. Perhaps the bug is in the lexer after all. " * 80)
    assert not loops(" ".join(f"Line {n} reads well, and so does the next one." for n in range(200)))
    assert not loops("-" * 9000)
