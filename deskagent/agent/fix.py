"""`fix` as a workflow of the loop: run the tests, localise, search for an edit, prove it cold.

Each method named after a state does that state's work once and returns what happened (see loop.TRANSITIONS).
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from deskagent.agent import loop, trials
from deskagent.agent.apply import Changes
from deskagent.agent.budget import StepType, Tier, pick_budget
from deskagent.agent.cold import ColdProof, observe_cold, refuse_what_proves_nothing
from deskagent.agent.commanding import settle_on
from deskagent.agent.environment import refuse_missing_packages
from deskagent.agent.front import Tried, Trying
from deskagent.agent.greens import Greens
from deskagent.agent.look_back import LookBack, first_look, look_back, say_flaky
from deskagent.agent.loop import State
from deskagent.agent.memory import Memory
from deskagent.agent.past import Past
from deskagent.agent.permissions import Gate
from deskagent.agent.recorder import Recorder
from deskagent.agent.request import FixRequest
from deskagent.agent.sources import Sources
from deskagent.agent.spending import Spending
from deskagent.agent.stream import Stream
from deskagent.repair import choose
from deskagent.repair.beside import beside, still
from deskagent.repair.command import TestCommand
from deskagent.repair.languages.known import only_localised
from deskagent.repair.localize import localize
from deskagent.repair.model.judge import Judge
from deskagent.repair.model.weights import Weights
from deskagent.repair.regress.find import check
from deskagent.repair.search import Ended, Nobody, Search, Trial
from deskagent.repair.toolchains.known import limits_tests
from deskagent.repair.types import Baseline, Candidate, Status, Suspect, TestResult
from deskagent.repair.unreadable import no_source
from deskagent.repair.verify import Verifier
from deskagent.session import events
from deskagent.terminal.sandbox import Sandbox

if TYPE_CHECKING:  # what models need is imported where there are any
    from deskagent.agent.repairing.race import Race


@dataclass
class Fix:
    """One repair from the first test run to a proved patch. Nothing is written to the project here.

    `past` is what the session did before; `applied` then says that the patch is in the tree already. `others`
    are failing tests that the request doesn't name. `began` is the monotonic time from which the limits count. `model`
    has a say in the candidates' order, those of `race` hand in patches of their own.
    """

    request: FixRequest
    recorder: Recorder
    gate: Gate
    sandbox: Sandbox
    past: Past | None = None
    model: tuple[Judge, Weights] | None = None
    race: Race | None = None
    command: TestCommand | None = None
    before: ColdProof | None = None
    after: ColdProof | None = None
    baseline: Baseline | None = None
    others: frozenset[str] = frozenset()
    suspects: tuple[Suspect, ...] = ()
    looked_back: LookBack | None = None
    search: Search | None = None
    greens: Greens = field(default_factory=Greens)
    chosen: Trial | None = None
    red: list[events.Trial] = field(default_factory=list)
    applied: bool = False
    tier: Tier = Tier.LOW
    began: float = field(default_factory=time.monotonic)

    def __post_init__(self) -> None:
        self._memory = Memory(self.recorder, self.request.project, self.past)
        self._spending = Spending(self.request, self._memory, self.began)
        self._verifier: Verifier | None = None
        self._ended: Ended | None = None
        self._searched_out = False
        self.sources = Sources(self.request.project)
        self._stream = Stream(
            self.sources, self.request.text, self.model, lambda: self._spending.whole.exhausted
        )

    def run(self) -> State:
        """Runs the loop to its end. The verifier's processes are gone when this returns or raises."""
        handlers = {
            State.OBSERVE: self.observe,
            State.PLAN: self.plan,
            State.ACT: self.act,
            State.VERIFY: self.verify,
        }
        try:
            return loop.run(handlers, on_change=self._changed)
        finally:
            if self.race:
                self.race.close(self.recorder)
            self._stream.close()
            if self._verifier:
                self._verifier.close()
            self.recorder.flush()

    @property
    def tried(self) -> int:
        return self.search.tried if self.search else 0

    @property
    def rivals(self) -> list[Trial]:
        """Every other patch that passes too, the likeliest first."""
        return [t for t in self.greens.standing if t is not self.chosen]

    def observe(self) -> str:
        """Finds the test command, asks where it must, and runs it as it is."""
        tier = pick_budget(StepType.PARSE_OUTPUT, effort=self.request.effort)
        if self.request.since is not None:
            check(self.request.project, self.request.since)
        with self.recorder.step(StepType.PARSE_OUTPUT, tier, State.OBSERVE) as step:
            self.command = settle_on(self.request, self.gate, self.recorder)
            self._memory.keep_tree()
            self._verifier = Verifier(self.request.project, self.command, sandbox=self.sandbox)
            self._verifier.prepare(self._spending.look_seconds(None), look_too=self._spending.hurried)
            self.before = self._cold({}, "observe", stall=limits_tests(self.command, self.request.project))
            step.note = self.before.summary
            if not self.before.green:
                run = self.before.run
                refuse_missing_packages(self.request.project, self.command, run.printed, run.result.text)
            refuse_what_proves_nothing(self.before, self.command)
        done = self._memory.applied() if not self.before.out_of_time else None
        if done and not self.before.green:
            left = still(done.before.run, self.before.run, done.after.left)
            self.before = replace(self.before, left=left)
        if not self.before.holds and not self.before.out_of_time:
            self._stream.warm()
            return "failure_seen"
        self._memory.tree_kept()
        if self.before.out_of_time:
            return "limit"
        if done:
            self.applied, self.chosen = True, done.trial
            self.before, self.after = done.before, self.before
            for path, raw in done.contents.items():
                self.sources.was(path, raw)
        return "all_green"

    def plan(self) -> str:
        """The first time: where could it be? Later: is there anything left to try, and with what effort?"""
        if self.search is None:
            return self._first_plan()
        if self._ended is Ended.EXHAUSTED and not (self.race and self.race.to_come):
            return "nothing_left"
        if self._spending.may_go_on():
            return "places_found"
        self._searched_out = not self._spending.whole.exhausted
        return "places_found" if self._searched_out and self.race and self.race.goes_on else "limit"

    def act(self) -> str:
        """Tries candidates within this tier's limits."""
        assert self.search is not None and self._verifier is not None
        self.tier = self._spending.tier
        self._stream.more(self.tier)
        with self.recorder.step(StepType.CODE_PATCH, self.tier, State.ACT) as step:
            tried = self.search.tried
            self._ended = self._search(self.search)
            step.candidates = self.search.tried - tried
            self.greens.rank(self.search.green, self._context, self._verifier, self._spending.whole)
            step.note = f"{self._ended}: {len(self.search.green)} green of {self.search.tried}"
            say_flaky(self._verifier, self.recorder)
            self._stream.tell(self.recorder)
        self.recorder.flush()
        if self.greens.standing:
            return "green"
        return "limit" if self._spending.whole.exhausted else "red"

    def verify(self) -> str:
        """The exact command, cold, on the final tree, for the best green patch, then the next."""
        tier = pick_budget(StepType.PARSE_OUTPUT, effort=self.request.effort)
        with self.recorder.step(StepType.PARSE_OUTPUT, tier, State.VERIFY) as step:
            for trial in self.greens.standing:
                self.after = self._cold(trial.files, "verify", patch=trial.candidate.key)
                step.note = self.after.summary
                if self.after.holds:
                    self.chosen = trial
                    return "proved"
                self.greens.refuted.append(trial)
                if self.race:
                    self.race.refuted(trial, self.after.summary)
                self.recorder.notice(
                    "warning",
                    f"`{trial.candidate.note}` ({trial.candidate.path}:{trial.candidate.line}) passed in the warm "
                    f"worker but not by the exact command: {self.after.summary}",
                )
        return "limit" if self._spending.whole.exhausted else "refuted"

    def _search(self, search: Search) -> Ended:
        if self.race is None:
            return search.run(self._spending.open_tier(), self._spending.search)
        return self.race.run(self, search, self._spending, alone=self._searched_out)

    def _changed(self, source: State, target: State, event: str) -> None:
        self.recorder.emit(events.StateChanged(source=str(source), target=str(target), why=event))

    @property
    def _context(self) -> choose.Context:
        return choose.Context(
            lambda path: self.sources.read(path).raw, self.baseline, self.request.text, self.suspects
        )

    def _cold(
        self, files: Mapping[str, bytes], purpose: str, *, stall: bool = False, patch: str = ""
    ) -> ColdProof:
        assert self.command is not None
        return observe_cold(
            self.recorder,
            self.request.project,
            self.command,
            files,
            sandbox=self.sandbox,
            purpose=purpose,
            seconds=self._proof_seconds if patch else self._spending.whole.seconds_left,
            stall=stall,
            patch=patch,
            before=self.before if patch else None,
            others=self.others,
        )

    @property
    def _proof_seconds(self) -> float:
        return self._spending.proof_seconds(self.before.seconds if self.before else 0.0)

    def _first_plan(self) -> str:
        assert self.command is not None and self.before is not None and self._verifier is not None
        tier = pick_budget(StepType.ROOT_CAUSE, effort=self.request.effort)
        with self.recorder.step(StepType.ROOT_CAUSE, tier, State.PLAN) as step:
            self.baseline = first_look(self._verifier, self.before, self._spending)
            say_flaky(self._verifier, self.recorder)
            if self.before.stalled and not self.baseline.failing:
                if self._spending.whole.seconds_left <= 0:
                    return "limit"
                # The first run fell silent, but no test hangs or fails: a slow suite gets the time it takes.
                self.before = self._cold({}, "observe")
                if self.before.green or self.before.out_of_time:
                    return "all_green" if self.before.green else "limit"
                self.baseline = first_look(self._verifier, self.before, self._spending)
            if self._verifier.warm:
                self.others = beside(self.request.text, self.baseline, self.before.run)
                self._verifier.set_aside(self.others)
            if self._spending.whole.seconds_left <= 0:  # what an earlier run found takes no more candidates
                return "limit"
            self.looked_back = look_back(
                self.request,
                localize(
                    self.request.project,
                    self.baseline,
                    request=self.request.text,
                    files=self.request.files,
                    until=self._spending.whole.until,
                ),
                baseline=self.baseline,
                verifier=self._verifier,
                read=self.sources.read,
                recorder=self.recorder,
                whole=self._spending.whole,
            )
            self.suspects = self.looked_back.suspects
            self.recorder.emit(trials.suspected(self.suspects))
            if said := only_localised(self.request.project, self.suspects):
                self.recorder.notice("info", said)
            if said := no_source(self.request.project, self.failing, self.suspects):
                self.recorder.notice("warning", said)
            step.note = f"{len(self.suspects)} places{self.looked_back.note}"
        self._spending.open_search()
        again = self._memory.recall(self.command.line)
        self.red.extend(again.red)
        self.search = Search(
            stream=itertools.chain(
                self.looked_back.reverts, self._stream.begin(self.baseline, self.suspects)
            ),
            submit=self._verifier.submit,
            render=self.sources.render,
            on_start=self._trying,
            on_trial=self._tried,
            tried=len(again.red),
            seen={trial.key for trial in again.red},
            aside=self.race.table if self.race else Nobody(),
        )
        if again.green:
            self.search.check_again(again.green, self._proof_seconds)
        if self._spending.whole.exhausted and not self.search.green:
            return "limit"
        anything = self.suspects or self.looked_back.reverts or self.search.green or self.race
        return "places_found" if anything else "nothing_left"

    def changes(self, trial: Trial) -> Changes:
        """Path → contents before and after."""
        return self.sources.changes(trial.files)

    def _trying(self, candidate: Candidate) -> None:
        self.recorder.pass_on(Trying(candidate, self.tried, self._spending.tier_budget.share))

    def _tried(self, trial: Trial) -> None:
        candidate, verdict = trial.candidate, trial.verdict
        outcome = trials.tried(trial)
        self.recorder.trial(outcome)
        if verdict.status is Status.GREEN:
            trials.keep(self.recorder, self.request.project, trial, self.changes(trial))
        else:
            self.red.append(outcome)
            self._stream.failed(candidate, verdict)
        if self.race:
            self.race.table.tried(trial)
        self.recorder.pass_on(Tried(candidate, verdict, trial.number, self._spending.tier_budget.share))

    @property
    def failing(self) -> tuple[TestResult, ...]:
        """The tests that fail before any edit: as the worker sees them, else as the command printed them."""
        return trials.failing(self.baseline, self.before)

    @property
    def limited(self) -> bool:
        """Whether a limit, not the end of the candidates, ended the search."""
        if self.before is not None and self.before.out_of_time:
            return True
        return self._ended is not Ended.EXHAUSTED and (
            self._ended is Ended.LIMIT or self._spending.whole.exhausted
        )
