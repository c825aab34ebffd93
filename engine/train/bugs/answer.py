"""Questions and their answers as examples, with thinking of each tier."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence

from engine.prompt import edits
from engine.prompt.edits import Edit
from engine.prompt.messages import Message, Prompt, Tier
from engine.prompt.render import render
from engine.prompt.repair import Question, ask
from engine.train.example import Example, Piece

TIERS: dict[Tier | None, float] = {None: 0.8, "low": 0.05, "high": 0.075, "max": 0.075}
"""Tier → share of examples: ranking asks without one."""
LARGEST = 420
"""Characters of an answer that is worth teaching."""
_SUSPECTS = 3
_SOUND = "nothing wrong\n"
"""What is thought where nothing has to change."""


def tier(rng: random.Random) -> Tier | None:
    return rng.choices(list(TIERS), list(TIERS.values()))[0]


def example(question: Question, answer: Sequence[Edit], thought: str, rng: random.Random) -> Example:
    """thought: more to think in the highest tier, such as the value expected and that seen; or nothing."""
    chosen = tier(rng)
    context = render(ask(question, chosen))
    lines = list(_thinking(question.excerpt, answer, chosen, rng))
    thinking = "".join(line for line, _ in lines) + (thought if chosen == "max" else "")
    asked = ask(question, chosen)
    said = Message("assistant", edits.write(answer), thinking=thinking)
    whole = render(Prompt(messages=(*asked.messages, said), tier=chosen, answer=False))
    pieces = [Piece(segment, False) for segment in context]
    for segment in whole[len(context) :]:
        if segment == thinking and lines:
            pieces += [Piece(line, learn) for line, learn in lines]
            if chosen == "max" and thought:
                pieces.append(Piece(thought, True))
        else:
            pieces.append(Piece(segment, True))
    return pieces


def _thinking(
    excerpt: str, answer: Sequence[Edit], chosen: Tier | None, rng: random.Random
) -> Iterator[tuple[str, bool]]:
    """Lines, and whether each is learnt: wrong suspects are only read, so that right ones alone are made likely."""
    if chosen not in ("high", "max"):
        return
    rows = sorted({edit.line for edit in answer})
    if not rows:
        yield _SOUND, True
        return
    shown = ["", *excerpt.split("\n")]
    if chosen == "high":
        yield f"{rows[0]}|{shown[rows[0]]}\n", True
        return
    others = [row for row in range(1, len(shown)) if row not in rows and shown[row].strip()]
    suspects = rows[:_SUSPECTS]
    suspects = suspects + rng.sample(others, min(_SUSPECTS - len(suspects), len(others)))
    rng.shuffle(suspects)
    for row in suspects:
        yield f"{row}|{shown[row]}\n", row in rows
