"""Who computes in the next step: continuous batching, prompts in chunks, preemption when pages run out."""

from __future__ import annotations

from bisect import insort
from collections.abc import Sequence as Tokens
from dataclasses import dataclass

import torch

from engine.cache.pages import History, Memory
from engine.cache.prefix import PrefixCache
from engine.errors import CapacityError, EngineError
from engine.generate.admit import admit
from engine.generate.cuts import Floats
from engine.generate.flat import Run, logits
from engine.generate.sequence import Request, Sequence
from engine.generate.sight import look
from engine.generate.text import Vocabulary
from engine.model import Model
from engine.step import Steps


@dataclass(slots=True)
class Part:
    """One sequence's share of a step: its next `count` known tokens, and drafts after them. `asked`: whether a token
    is to be chosen. `spare`: a slot with the state from before the drafts."""

    sequence: Sequence
    count: int
    asked: bool
    drafts: list[int]
    spare: int | None = None

    @property
    def rows(self) -> int:
        return self.count + len(self.drafts)

    def span(self) -> tuple[int, int]:
        """The first known token that is computed, and the one after the last."""
        first = _history(self.sequence).length
        return first, first + self.count

    def tokens(self) -> list[int]:
        first = _history(self.sequence).length
        return self.sequence.tokens[first : first + self.count] + self.drafts


class Scheduler:
    """Requests in the order they came. `budget`: tokens a step. Not thread-safe: the caller holds a lock."""

    def __init__(
        self,
        model: Model,
        memory: Memory,
        prefix: PrefixCache | None,
        vocabulary: Vocabulary | None = None,
        budget: int = 512,
    ) -> None:
        self.model, self.memory, self.prefix, self.vocabulary = model, memory, prefix, vocabulary
        self.budget = max(budget, memory.slots)
        self.waiting: list[Sequence] = []
        self.running: list[Sequence] = []
        self.steps = Steps(model, memory.pools)
        self._device = model.weights.norm.device
        self._count = 0
        self._refused: tuple[int, int, int] | None = None

    @property
    def idle(self) -> bool:
        return not self.waiting and not self.running

    def add(self, request: Request) -> Sequence:
        """Errors: RequestError, CapacityError for what can never be served; nothing has run then."""
        limit, stop_tokens = admit(request, self.model.config, self.memory, self.vocabulary)
        sequence = Sequence(self._count, request, limit, stop_tokens, self.vocabulary)
        self._count += 1
        self.waiting.append(sequence)
        return sequence

    def cancel(self, sequence: Sequence) -> None:
        """Ends it now and gives its memory back; what has ended stays as it is."""
        if sequence.finish is None:
            sequence.end("cancelled")
            self._keep(sequence)
            self._retire(sequence)

    def step(self) -> bool:
        """One forward pass. False where nothing can run: no requests, or others hold the memory."""
        self._start()
        parts = self._plan()
        if not parts:
            return False
        try:
            rows = self._replayed(parts)
            if rows is None:
                rows = self._forward(parts)
        except BaseException as error:
            # How far the caches were written is unknown, so nobody in this step can go on.
            for part in parts:
                self._fail(part, error)
            if isinstance(error, Exception):
                return True
            raise
        first = 0
        for part in parts:
            wanted = 1 + len(part.drafts) if part.asked else 0
            try:
                self._settle(part, rows[first : first + wanted])
            except EngineError as error:
                self._fail(part, error)
            first += wanted
        return True

    def _start(self) -> None:
        """Lets waiting requests in, first come first served, while there is room for their prompts."""
        while self.waiting and self.memory.free_slots:
            sequence = self.waiting[0]
            state = (sequence.number, self.memory.free_pages, self.memory.free_slots)
            if state == self._refused:
                return  # nothing has been given back since
            history, branch = self._remembered(sequence)
            spare = (
                self.memory.page if self.running else 0
            )  # so that the next step doesn't throw it out again
            try:
                history.reserve(len(sequence.tokens) - history.length + spare)
            except CapacityError:
                history.release()
                self._refused = (sequence.number, self.memory.free_pages, self.memory.free_slots)
                return
            self.waiting.pop(0)
            sequence.history = history
            if sequence.cached is None:
                sequence.cached = history.length
            sequence.marks = self._marks(sequence, branch)
            insort(self.running, sequence, key=_number)

    def _remembered(self, sequence: Sequence) -> tuple[History, int]:
        """The longest known beginning of a sequence, and how far its tokens alone are known."""
        if self.prefix is None or not sequence.request.cached:
            return History(self.memory), 0
        return self.prefix.find(sequence.keys, len(sequence.tokens) - 1)

    def _marks(self, sequence: Sequence, branch: int) -> list[int]:
        """Where chunks have to end because the state there is to be kept, farthest first."""
        if self.prefix is None or not sequence.request.cached:
            return []
        known, prompt = _history(sequence).length, len(sequence.request.prompt)
        regular = range(self.prefix.interval, prompt, self.prefix.interval)
        marks = {*sequence.request.marks, *regular, branch, prompt - 1}
        return sorted((mark for mark in marks if known < mark < len(sequence.tokens)), reverse=True)

    def _plan(self) -> list[Part]:
        """Sequences that wait for their next token come before prompts, then the older before the younger."""
        budget, parts = self.budget, dict[int, Part]()
        for sequence in sorted(self.running, key=_turn) if len(self.running) > 1 else (*self.running,):
            if budget == 0:
                break
            if sequence not in self.running:
                continue  # preempted for an older one
            count = min(sequence.pending, budget)
            if sequence.marks:
                count = min(count, sequence.marks[-1] - _history(sequence).length)
            part = Part(sequence, count, count == sequence.pending, [])
            if part.asked:
                self._draft(part, budget - count)
            if self._make_room(part, parts):
                parts[sequence.number] = part
                budget -= part.rows
        return list(parts.values())

    def _draft(self, part: Part, budget: int) -> None:
        sequence = part.sequence
        if sequence.lookup is None or not sequence.answered:
            return
        most = min(budget, sequence.limit - sequence.answered - 1)
        if most > 0 and self.memory.free_slots and not self.waiting:
            part.drafts = sequence.lookup.draft(most)

    def _make_room(self, part: Part, parts: dict[int, Part]) -> bool:
        """Pages for a part; while they are short the youngest other sequence gives up its own."""
        history = _history(part.sequence)
        while True:
            try:
                history.reserve(part.rows)
                break
            except CapacityError:
                if part.drafts:
                    part.drafts = []
                    continue
                victim = self.running[-1]
                self._preempt(victim)
                taken = parts.pop(victim.number, None)
                if taken is not None and taken.spare is not None:
                    self.memory.drop_slot(taken.spare)
                if victim is part.sequence:
                    return False
        if part.drafts:
            part.spare = self.memory.take_slot()
            self.memory.pools.copy_slot(history.state, part.spare)
        return True

    def _preempt(self, sequence: Sequence) -> None:
        """Back to the waiting ones, with its tokens; what was computed of it is kept where there is a cache."""
        self._keep(sequence)
        self.running.remove(sequence)
        _history(sequence).release()
        sequence.history = None
        sequence.seen.clear()
        insort(self.waiting, sequence, key=_number)

    def logits(self, runs: Tokens[Run]) -> Floats:
        """As `flat.logits`, of this model on its caches."""
        return logits(self.steps, runs, self._device)

    def _forward(self, parts: list[Part]) -> Floats:
        """Logits of the asked rows, part after part, in main memory: tokens are chosen one by one."""
        pictured = [(part.sequence, *part.span()) for part in parts if part.sequence.pictures]
        if pictured:
            with torch.inference_mode():
                look(self.model, pictured)
        runs = [
            Run(
                _history(part.sequence),
                part.tokens(),
                part.count - 1 if part.asked else part.rows,
                part.sequence.images,
            )
            for part in parts
        ]
        return self.logits(runs)

    def _replayed(self, parts: list[Part]) -> Floats | None:
        """The same where each sequence computes one token, as in most steps, by a recorded step; None where there is
        none for them."""
        for part in parts:
            if part.count != 1 or not part.asked or part.drafts or part.sequence.request.images:
                return None
        histories = [_history(part.sequence) for part in parts]
        return self.steps.replay(
            [part.sequence.tokens[-1] for part in parts],
            [history.length + 1 for history in histories],
            [history.state for history in histories],
            [history.pages for history in histories],
        )

    def _settle(self, part: Part, logits: Floats) -> None:
        """Chooses tokens, keeps or takes back drafts, notes states to be kept. logits: [asked rows, V]."""
        sequence, history = part.sequence, _history(part.sequence)
        before = history.length
        history.advance(part.rows)
        if part.asked:
            held = self._choose(part, logits)
            if part.spare is not None:
                sequence.drafted += len(part.drafts)
                sequence.accepted += held
                if held < len(part.drafts):
                    # Recurrent states can't be cut back: the tokens that held are computed again with the next ones.
                    history.rewind(before, part.spare)
                else:
                    self.memory.drop_slot(part.spare)
                part.spare = None
        if sequence.marks and sequence.marks[-1] == history.length:
            sequence.marks.pop()
            self._keep(sequence)
        if sequence.finish is not None:
            self._keep(sequence)
            self._retire(sequence)

    def _choose(self, part: Part, logits: Floats) -> int:
        """Takes tokens while the drafts hold. Gives the number of drafts that did."""
        sequence, held = part.sequence, 0
        for draft, row in zip([*part.drafts, None], logits, strict=True):
            if sequence.take(row) != draft:
                break
            held += 1
            if sequence.finish is not None:
                break
        if part.drafts and sequence.lookup is not None:
            sequence.lookup.judge(len(part.drafts), held)
        return held

    def _keep(self, sequence: Sequence) -> None:
        if self.prefix is not None and sequence.request.cached and sequence.history is not None:
            self.prefix.store(sequence.keys[: sequence.history.length], sequence.history)

    def _fail(self, part: Part, error: BaseException) -> None:
        if part.spare is not None:
            self.memory.drop_slot(part.spare)
            part.spare = None
        part.sequence.end("error", f"{type(error).__name__}: {error}")
        self._retire(part.sequence)

    def _retire(self, sequence: Sequence) -> None:
        for queue in (self.running, self.waiting):
            if sequence in queue:
                queue.remove(sequence)
        sequence.seen.clear()
        if sequence.history is not None:
            sequence.history.release()
            sequence.history = None


def _turn(sequence: Sequence) -> tuple[bool, int]:
    return not sequence.answered or sequence.pending > 1, sequence.number


def _number(sequence: Sequence) -> int:
    return sequence.number


def _history(sequence: Sequence) -> History:
    if sequence.history is None:
        raise EngineError(f"request {sequence.number} isn't running")
    return sequence.history
