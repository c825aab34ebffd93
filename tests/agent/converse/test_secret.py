"""Secrets of the environment never come back by a tool; everything else does, letter for letter."""

from __future__ import annotations

from deskagent.agent.converse.secret import without_secrets
from deskagent.messages import Image, Outcome, Result, Text

KEY = "sk-local-0123456789abcdef"


def test_the_values_of_secret_variables_are_marked_and_nothing_else_is_touched() -> None:
    shot = Image("b", "image/png", 3, 4)
    result = Result(Outcome.DONE, (Text(f"KEY={KEY}\npassword = 'a-test-fixture-1234'\n/home/me"), shot))
    environment = {"OPENAI_API_KEY": KEY, "DB_PASSWORD": "postgres", "HOME": "/home/me"}
    cleaned = without_secrets(result, environment)
    assert cleaned.content == (
        Text("KEY=[redacted: environment]\npassword = 'a-test-fixture-1234'\n/home/me"),
        shot,
    )
    plain = Result.of("postgres runs")
    assert without_secrets(plain, environment) is plain
