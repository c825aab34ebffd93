"""A model that can't call tools at a repair: which place, which edit, which lines; each question stands for itself.

Its choice of an edit, and the lines that it writes, go to the tests as every other candidate does.
"""

from __future__ import annotations

import asyncio
import itertools
import json
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from deskagent.agent.budget import StepType, pick_budget
from deskagent.agent.converse.asking import ask, tokens_of
from deskagent.agent.loop import State
from deskagent.agent.repairing import patching
from deskagent.agent.repairing.asked import Asked
from deskagent.messages import Said, Text
from deskagent.providers.base import Ask
from deskagent.repair.source import SourceError, SourceFile
from deskagent.repair.types import Candidate, Status, Suspect, Verdict
from deskagent.tools.base import ToolError
from deskagent.tools.bench import awaited, failures
from deskagent.tools.verify import of_verdict

OPERATOR = "model.lines"
_SYSTEM = "You repair small bugs in code. You answer with one JSON object, and nothing else."
_PLACES, _EDITS, _CHOICES, _TRIES, _RUBBISH = 4, 10, 10, 2, 4
"""Places that are gone through; edits, and places, that a question holds; answers in lines to a place; answers in a row
that may be none."""
_AROUND = 14
"""Lines of an excerpt on each side of the place."""
_MOST = 4096
"""Tokens of an answer."""


class Over(Exception):
    """Nothing more is asked; the reason in words."""


@dataclass(frozen=True)
class _Question:
    text: str
    fields: Mapping[str, Any]
    step: StepType
    why: str

    @property
    def schema(self) -> dict[str, Any]:
        return {
            "type": "object",
            "properties": dict(self.fields),
            "required": list(self.fields),
            "additionalProperties": False,
        }


class Narrow:
    """`work` as of a Driver."""

    def __init__(self, asked: Asked, cancel: threading.Event) -> None:
        self._asked, self._cancel = asked, cancel
        self.laid: list[str] = []
        self._rubbish = 0

    async def work(self, more: str = "") -> str:
        """more: on a patch of its own that wasn't accepted; the next places are gone through."""
        try:
            left = list(self._asked.problem.look.suspects)
            for _ in range(_PLACES):
                place = await self._place(left[:_CHOICES])
                if place is None:
                    break
                left.remove(place)
                if await self._edited(place) or await self._written(place, more):
                    return ""
            return "None of its answers passes the tests."
        except Over as over:
            return str(over)

    async def _place(self, places: Sequence[Suspect]) -> Suspect | None:
        if len(places) < 2:
            return places[0] if places else None
        lines = [f"{n}: {s.path}:{s.line}  {self._line(s)}" for n, s in enumerate(places, 1)]
        number = await self._number("place", "In which of these lines is the bug?", lines, 1)
        return places[max(0, number - 1)]  # where it names none, the most suspicious

    async def _edited(self, place: Suspect) -> bool:
        edits = await asyncio.to_thread(self._edits, place)
        if not edits:
            return False
        lines = ["0: none of them", *(f"{n}: {edit.note}" for n, edit in enumerate(edits, 1))]
        question = f"Which of these edits repairs it, in {place.path}:{place.line}  {self._line(place)}"
        number = await self._number("edit", question, lines, 0)
        return bool(number) and (await self._tried(edits[number - 1])).status is Status.GREEN

    async def _written(self, place: Suspect, more: str) -> bool:
        file = self._asked.problem.sources.there(place.path)
        if file is None:
            return False
        rows = file.text.splitlines()
        first, last = max(1, place.line - _AROUND), min(len(rows), place.line + _AROUND)
        shown = "\n".join(f"{n}: {rows[n - 1]}" for n in range(first, last + 1))
        said = more
        for _ in range(_TRIES):
            text = self._asking(
                f"Write the lines of {place.path} that repair it: `lines` come in place of those from `first` to "
                f"`last`, with their indentation, without numbers.",
                shown,
                said,
            )
            number = {"type": "integer", "minimum": first, "maximum": last}
            written = {"type": "array", "items": {"type": "string"}}
            fields = {"first": number, "last": number, "lines": written}
            found = await self._answer(_Question(text, fields, StepType.CODE_PATCH, "which lines"))
            if found is None:
                continue
            made = self._candidate(file, found, first, last)
            if isinstance(made, str):
                said = made
                continue
            verdict = await self._tried(made)
            if verdict.status is Status.GREEN:
                return True
            said = "\n".join(["You answered:", json.dumps(found), *of_verdict(verdict)])
        return False

    def _candidate(
        self, file: SourceFile, found: Mapping[str, Any], first: int, last: int
    ) -> Candidate | str:
        """What an answer in lines makes; a string says why it can't be."""
        begin, end, lines = found["first"], found["last"], found["lines"]
        ints = isinstance(begin, int) and isinstance(end, int)
        if not ints or not isinstance(lines, list) or not first <= begin <= end <= last:
            return f"`first` and `last` have to be line numbers from {first} to {last}."
        kept = file.text.splitlines(keepends=True)
        new = "".join(f"{str(line).rstrip()}\n" for line in lines)
        text = "".join([*kept[: begin - 1], new, *kept[end:]])
        try:
            after = file.bom + text.encode(file.encoding)
            if after == file.raw:
                return "That leaves the lines as they are."
            if why := self._asked.problem.allowed.refusal(file.path, new=False):
                return f"{file.path} {why}."
            note = f"lines {begin} to {end} written by {self._asked.name}"
            return patching.candidate({file.path: after}, self._asked.problem.sources, OPERATOR, note)
        except (SourceError, UnicodeEncodeError) as error:
            return f"It can't be written so: {error}."

    def _edits(self, place: Suspect) -> list[Candidate]:
        from deskagent.repair.rank import iter_ranked

        look = self._asked.problem.look
        stream = iter_ranked(look.read, (place,), request=look.words, baseline=look.baseline)
        return [ranked.candidate for ranked in itertools.islice(stream, _EDITS)]

    async def _tried(self, candidate: Candidate) -> Verdict:
        self.laid.append(candidate.key)
        try:
            return await asyncio.to_thread(awaited, self._asked.table.lay(candidate), self._cancel)
        except ToolError as error:
            raise Over(str(error)) from None

    async def _number(self, name: str, question: str, lines: Sequence[str], least: int) -> int:
        """The choice among numbered lines; 0 where the model gives none."""
        most = len(lines) if least else len(lines) - 1
        fields = {name: {"type": "integer", "minimum": least, "maximum": most}}
        text = self._asking(f"{question} Answer by its number, as `{name}`.", "\n".join(lines))
        found = await self._answer(_Question(text, fields, StepType.SIMPLE_LOOKUP, f"which {name}"))
        number = found[name] if found else 0
        return number if isinstance(number, int) and least <= number <= most else 0

    def _asking(self, question: str, shown: str, said: str = "") -> str:
        problem = self._asked.problem
        failing = "\n".join(failures(problem.look.baseline.results, most=1))
        return "\n\n".join(filter(None, [problem.request.strip(), failing, shown, said, question]))

    async def _answer(self, question: _Question) -> dict[str, Any] | None:
        """The object that the model answered, with all fields; None for rubbish. Errors: Over."""
        asked = self._asked
        if spent := asked.spent:
            raise Over(spent)
        tier = pick_budget(question.step, effort=asked.effort)
        form = json.dumps({name: f"<{field['type']}>" for name, field in question.fields.items()})
        request = Ask(
            _SYSTEM,
            (),
            (Said((Text(f"{question.text}\nThe form of the answer: {form}"),)),),
            tier=str(tier),
            most=_MOST,
            schema=question.schema if asked.provider.capabilities.grammar else None,
            session=asked.recorder.journal.id,
        )
        with asked.recorder.step(question.step, tier, State.ACT) as step:
            came = await ask(
                asked.recorder, asked.provider, request, tier=tier, step=question.step, why=question.why
            )
            step.tokens, step.cost_usd = tokens_of(came.usage), came.usage.cost or 0.0
        asked.meter.add()
        if came.error is not None:
            raise Over(str(came.error))
        found = read(came.text)
        if found is not None and set(question.fields) <= set(found):
            self._rubbish = 0
            return found
        self._rubbish += 1
        if self._rubbish >= _RUBBISH:
            raise Over("Its answers were none to what it was asked.")
        return None

    def _line(self, place: Suspect) -> str:
        file = self._asked.problem.sources.there(place.path)
        rows = file.text.splitlines() if file else []
        return rows[place.line - 1].strip()[:120] if 0 < place.line <= len(rows) else ""


def read(text: str) -> dict[str, Any] | None:
    """The first JSON object in what a model wrote, whatever stands around it."""
    decoder = json.JSONDecoder()
    for at in (n for n, letter in enumerate(text[:20_000]) if letter == "{"):
        try:
            found, _ = decoder.raw_decode(text, at)
        except (ValueError, RecursionError):
            continue
        if isinstance(found, dict):
            return found
    return None
