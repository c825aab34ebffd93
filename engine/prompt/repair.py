"""The question that our checkpoints are taught to answer: which edit of this excerpt mends what failed."""

from __future__ import annotations

from dataclasses import dataclass

from engine.prompt.messages import Message, Prompt, Tier

TAUGHT = 1
"""Number of this way of asking and answering: a checkpoint that was taught another one wouldn't know what is meant."""
MOST_FAILURE = 600
"""Characters kept of what failed: its end, where the message is."""
_REQUEST = 200


@dataclass(frozen=True, slots=True)
class Question:
    """path: of the file. excerpt: whole lines of it. failure: the failing assertion and traceback as far as known, or
    nothing. request: what the user said, or nothing."""

    path: str
    excerpt: str
    failure: str = ""
    request: str = ""


def numbered(excerpt: str) -> str:
    """Each line behind its number, from 1, as edits name it."""
    return "\n".join(f"{number}|{line}" for number, line in enumerate(excerpt.split("\n"), 1))


def ask(question: Question, tier: Tier | None = None) -> Prompt:
    """The conversation up to where the answer begins: `edits.write`, behind thinking where a tier is given.

    What failed comes before the excerpt, so that excerpts of other places share its state.
    """
    said = [
        f"{label}: {text}"
        for label, text in (
            ("request", question.request[:_REQUEST].strip()),
            ("failed", question.failure[-MOST_FAILURE:].strip()),
            ("file", question.path),
        )
        if text
    ]
    content = "\n".join([*said, numbered(question.excerpt)])
    return Prompt(messages=(Message("user", content),), tier=tier)
