"""What goes back to a model: its own thinking as it came, nobody else's, and honest words for what can't go."""

from __future__ import annotations

import base64

import pytest

from deskagent.messages import Answer, Author, Call, Image, Outcome, Result, Said, Text, Thinking, Used
from deskagent.providers.base import Ask, Choice, Tool
from deskagent.providers.dialects import DIALECTS
from deskagent.providers.remote import APIS

ID = "call_0123456789abcdef"
TOOL = Tool("read", "Reads.", {"type": "object", "properties": {}})
HELLO = Said((Text("Hello"),))
PICTURE = Image("blob", "image/png", 3, 4, "shot.png")


def request(endpoint, *turns, **more):
    ask = Ask("", more.pop("tools", (TOOL,)), turns, blob=lambda name: b"PNG", **more)
    return APIS[endpoint.dialect.api].request(ask, endpoint)


def used(arguments="{}", *content, outcome=Outcome.DONE):
    return Used(Call(ID, "read", arguments), Result(outcome, content or (Text("found"),)))


@pytest.mark.parametrize(
    ("dialect", "label", "field"),
    [
        ("kimi", "reasoning_content", "reasoning_content"),
        ("kimi", "reasoning", "reasoning"),
        ("vllm", "reasoning", "reasoning"),
        ("vllm", "thinking", "reasoning"),  # the same model, served with another API before
    ],
)
@pytest.mark.parametrize("text", ["Hm", ""])
def test_thinking_goes_back_by_its_name_also_where_it_is_empty(dialect, label, field, text, endpoint):
    answer = Answer((Thinking(text, label), used()), "here/m")
    message = request(endpoint(dialect), HELLO, answer)["messages"][1]
    assert message[field] == text


def test_thinking_goes_to_its_author_and_kin_alone(endpoint):
    answer = Answer((Thinking("Hm", "reasoning_content"), used()), "cloud/k3-fast")
    mine = endpoint("sglang", kin=("cloud/k3*",))
    assert request(mine, HELLO, answer)["messages"][1]["reasoning_content"] == "Hm"
    assert "reasoning_content" not in request(endpoint("sglang"), HELLO, answer)["messages"][1]
    assert request(endpoint("kimi"), HELLO, answer)["messages"][1]["reasoning_content"] == " "


def test_thinking_that_came_in_the_text_goes_back_in_the_text(endpoint):
    answer = Answer((Thinking("Hm", "<think>"), Text("\n\nYes.")), "here/m")
    assert (
        request(endpoint("vllm"), HELLO, answer, HELLO)["messages"][1]["content"]
        == "<think>Hm</think>\n\nYes."
    )


def test_signed_thinking_goes_back_verbatim_and_an_unsigned_piece_does_not(endpoint):
    parts = (
        Thinking("Hm", "thinking", {"signature": "s"}),
        Thinking("", "redacted_thinking", {"data": "d"}),
        used(),
        Thinking("cut", "thinking"),
    )
    message = request(endpoint("anthropic"), HELLO, Answer(parts, "here/m"))["messages"][1]
    assert message["content"][:2] == [
        {"type": "thinking", "thinking": "Hm", "signature": "s"},
        {"type": "redacted_thinking", "data": "d"},
    ]
    assert [block["type"] for block in message["content"][2:]] == ["tool_use"]


def test_arguments_stay_byte_for_byte_unless_they_are_no_object(endpoint):
    for written, sent in (
        ('{ "b":1,"a" : 2 }', '{ "b":1,"a" : 2 }'),
        ("", "{}"),
        ("{", '{"_unreadable_arguments": "{"}'),
        ("[1]", '{"_unreadable_arguments": "[1]"}'),
    ):
        message = request(endpoint("generic"), HELLO, Answer((used(written),), "here/m"))["messages"][1]
        assert message["tool_calls"][0]["function"]["arguments"] == sent


def test_pictures_of_results_follow_them_where_a_result_can_hold_none(endpoint):
    answer = Answer((used("{}", PICTURE), Used(Call(f"{ID}2", "read", "{}"), Result.of("x"))), "here/m")
    messages = request(endpoint("openai"), HELLO, answer)["messages"]
    assert [message["role"] for message in messages] == ["user", "assistant", "tool", "tool", "user"]
    url = messages[-1]["content"][1]["image_url"]["url"]
    assert base64.b64decode(url.removeprefix("data:image/png;base64,")) == b"PNG"
    block = request(endpoint("anthropic"), HELLO, answer)["messages"][2]["content"][0]["content"][0]
    assert block["source"] == {
        "type": "base64",
        "media_type": "image/png",
        "data": base64.b64encode(b"PNG").decode(),
    }


def test_a_picture_for_a_model_without_eyes_is_told(endpoint):
    blind = endpoint("openai", can={"images": False})
    (message,) = request(blind, Said((PICTURE,)))["messages"]
    assert message["content"] == "[A picture is here that you can't see: shot.png, image/png, 3 × 4 pixels.]"


def test_our_words_are_told_apart_from_the_persons(endpoint):
    turns = (HELLO, Said((Text("Remember."),), Author.DESKAGENT))
    contents = [message["content"] for message in request(endpoint("openai"), *turns)["messages"]]
    assert contents == ["Hello", "<note>\nRemember.\n</note>"]


def test_how_a_call_ended_is_told_where_there_is_a_place_for_it(endpoint):
    answer = Answer((used("{}", Text("no"), outcome=Outcome.FAILED),), "here/m")
    assert request(endpoint("anthropic"), HELLO, answer)["messages"][2]["content"][0]["is_error"] is True


@pytest.mark.parametrize("dialect", [name for name, dialect in DIALECTS.items() if dialect.api in APIS])
@pytest.mark.parametrize("tier", ["low", "high", "max"])
def test_effort_stands_in_one_place(dialect, tier, endpoint):
    where = endpoint(dialect)
    body = request(where, HELLO, tier=tier, most=100_000)
    path = where.dialect.effort
    if not path:
        return
    for key in path.split("."):
        body = body[key]
    assert body == where.dialect.tiers[tier]


def test_a_tier_that_a_model_lacks_is_the_next_lower(endpoint):
    def effort(tiers, tier):
        return request(endpoint("kimi", can={"tiers": tiers}), HELLO, tier=tier).get("reasoning_effort")

    assert effort(("low", "high"), "max") == "high"
    assert effort(("high", "max"), "low") == "high"
    assert effort((), "max") is None


def test_a_budget_leaves_room_for_an_answer(endpoint):
    where = endpoint("anthropic-budget")
    assert request(where, HELLO, tier="max", most=10_000)["thinking"]["budget_tokens"] == 10_000 - 1024
    assert "thinking" not in request(where, HELLO, tier="max", most=1500)


def test_thinking_is_off_where_the_turn_at_work_began_without(endpoint):
    where = endpoint("anthropic-budget")
    other = Answer((Text("I look."), used()), "other/m")
    mine = Answer(
        (Thinking("Hm", "thinking", {"signature": "s"}), Used(Call(f"{ID}2", "read", "{}"), Result.of("x"))),
        "here/m",
    )
    body = request(where, HELLO, other, mine)
    assert "thinking" not in body
    assert [block["type"] for block in body["messages"][3]["content"]] == ["tool_use"]
    later = request(where, HELLO, other, mine, HELLO)
    assert "thinking" in later and later["messages"][3]["content"][0]["type"] == "thinking"


def test_a_required_tool_is_required_in_each_apis_words(endpoint):
    def body(dialect, **more):
        return request(endpoint(dialect), HELLO, choice=Choice.REQUIRED, **more)

    assert body("kimi")["tool_choice"] == body("responses")["tool_choice"] == "required"
    assert body("anthropic")["tool_choice"] == {"type": "any"} and "thinking" not in body("anthropic")
    assert "tool_choice" not in body("kimi", tools=())


def test_a_schema_for_the_answer_is_sent_to_who_can_hold_to_it(endpoint):
    schema = {"type": "object", "properties": {}}
    able = {"grammar": True}
    body = request(endpoint("vllm", can=able), HELLO, schema=schema)
    assert body["response_format"]["json_schema"]["schema"] == schema
    assert (
        request(endpoint("responses", can=able), HELLO, schema=schema)["text"]["format"]["schema"] == schema
    )
    assert (
        request(endpoint("anthropic", can=able), HELLO, schema=schema)["output_config"]["format"]["schema"]
        == schema
    )
    assert "response_format" not in request(endpoint("vllm"), HELLO, schema=schema)


def test_numbered_ids_count_over_the_conversation(endpoint):
    answer = Answer((used(), Used(Call("x", "ls", ""), Result.of("y"))), "here/m")
    messages = request(endpoint("kimi-k2"), HELLO, answer)["messages"]
    assert [call["id"] for call in messages[1]["tool_calls"]] == ["functions.read:0", "functions.ls:1"]
    assert [message["tool_call_id"] for message in messages[2:]] == ["functions.read:0", "functions.ls:1"]
