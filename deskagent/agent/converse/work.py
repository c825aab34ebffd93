"""A conversation's session made ready: the journal, the history in it, the project's lock, sandbox, gate and tools.

What holds from the session's own past (the model, the mode, the head of every request) is taken from it.
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from deskagent import __version__
from deskagent.agent import keeping, opened, settle, which
from deskagent.agent.budget import Tier
from deskagent.agent.converse import prompt
from deskagent.agent.converse.acting import Hands, Watch
from deskagent.agent.converse.compact import Compactor
from deskagent.agent.converse.contexts import Place
from deskagent.agent.converse.diagnosing import diagnosed
from deskagent.agent.converse.log import Log
from deskagent.agent.converse.modes import Modes
from deskagent.agent.converse.repairing import Repair
from deskagent.agent.converse.rights import Rights
from deskagent.agent.converse.rules import Rule, Rules
from deskagent.agent.converse.subagents import Subagents
from deskagent.agent.converse.talk import Limits, Talk
from deskagent.agent.converse.watching import Watching
from deskagent.agent.front import Passing, Question
from deskagent.agent.given import kinds as kinds_of
from deskagent.agent.given.skills import Skills
from deskagent.agent.hooks import approved, named
from deskagent.agent.hooks.running import Hooks
from deskagent.agent.hooks.watching import Hooked
from deskagent.agent.permissions import Mode, is_trusted
from deskagent.agent.recorder import Recorder
from deskagent.agent.repairing.workbench import Workbench, has_tests
from deskagent.agent.servers.servers import Servers
from deskagent.agent.workspace import project_root, workspace_lock
from deskagent.errors import UsageError
from deskagent.messages import Author, Text
from deskagent.providers.base import Provider
from deskagent.session import events, kept, talk
from deskagent.session.event import Event
from deskagent.session.history import History
from deskagent.session.journal import Journal
from deskagent.terminal import temporary
from deskagent.tools import registry
from deskagent.tools.agent import Agent
from deskagent.tools.base import Tool
from deskagent.tools.fitting import fitting
from deskagent.tools.jobs import Jobs
from deskagent.tools.localise import Localise
from deskagent.tools.plan import Plan
from deskagent.tools.skill import Skill
from deskagent.tools.typed_edits import TypedEdits
from deskagent.tools.verify import Verify


class Person(Protocol):
    """A front that can choose among answers."""

    interactive: bool

    def ask(self, question: Question) -> bool: ...

    def choose(self, question: Question, choices: tuple[str, ...]) -> str:
        """One of the choices, or words of the person's own where they give others; "" where nobody answers."""
        ...

    def show(self, event: Event | Passing) -> None: ...


@dataclass(frozen=True)
class Options:
    """start: the folder that it was called in. model: makes the provider of a name, "" for the person's default, and
    says whether its server keeps the effort in front of a conversation. named: the model that the person named, if any.
    session, fork: as in FixOptions. rules: beside the mode. save: keeps a rule for good. tools: names of those that may
    be used, None for all."""

    start: Path
    argv: tuple[str, ...]
    model: Callable[[str], tuple[Provider, bool]]
    named: str = ""
    mode: Mode | None = None
    effort: str = ""
    cap: Tier = Tier.MAX
    limits: Limits = field(default_factory=Limits)
    rules: Rules = field(default_factory=Rules)
    save: Callable[[Rule], None] = lambda rule: None
    tools: tuple[str, ...] | None = None
    session: str | None = None
    fork: bool = False


class _Both:
    """A front that the history sees everything through, before who watches."""

    def __init__(self, history: History, front: Person) -> None:
        self._history, self._front = history, front
        self._lock = threading.RLock()
        self.interactive = front.interactive

    def ask(self, question: Question) -> bool:
        return self._front.ask(question)

    def show(self, event: Event | Passing) -> None:
        with self._lock:  # tools report from threads of their own
            if isinstance(event, Event):
                self._history.take(event)
            self._front.show(event)


@contextlib.contextmanager
def at_work(options: Options, front: Person) -> Iterator[Talk]:
    """A conversation that can be gone on with. Errors: UsageError, TransientError."""
    with contextlib.ExitStack() as stack:
        journal, project, resumed = _opened(options)
        stack.callback(journal.close)
        stack.callback(keeping.close, journal)
        history = kept.view(journal, History)
        recorder = Recorder(journal, _Both(history, front))
        _begin(options, recorder, project, resumed=resumed)
        temporary.sweep()
        stack.enter_context(workspace_lock(project))
        settle.settle_earlier(recorder, project)
        settle.settle_session(recorder, project, journal)
        jobs = Jobs()
        stack.callback(jobs.close)
        bench = Workbench(project)
        stack.callback(bench.close)
        servers = _servers(front, recorder, project)
        stack.callback(servers.close)
        named = options.tools is None or any(name.startswith("mcp__") for name in options.tools)
        theirs = servers.tools() if named else ()
        yield _talk(options, front, recorder, history, project, jobs, bench, theirs)


def _servers(front: Person, recorder: Recorder, project: Path) -> Servers:
    def warn(text: str) -> None:
        recorder.notice("warning", text)

    choose = front.choose if front.interactive else None
    return Servers(project, trusted=is_trusted(project), warn=warn, choose=choose)


def _hooks(
    recorder: Recorder, project: Path, rights: Rights, *, trusted: bool, warn: Callable[[str], None]
) -> Hooks:
    """Those that may run. Errors: UsageError of the person's own file."""
    found = named.named(project, trusted=trusted, warn=warn)
    may = [hook for hook in found if approved.holds(hook)]
    if left := len(found) - len(may):
        warn(f"{left} of the project's hooks are new or changed, and don't run: deskagent hooks approve.")
    return Hooks(recorder, project, may, lambda: rights.now, lambda: str(rights.mode))


def _opened(options: Options) -> tuple[Journal, Path, bool]:
    """The session's journal, its project, and whether it was there before."""
    if options.session is None:
        project = project_root(options.start)
        return Journal.create(project, argv=options.argv, mode=str(options.mode or Mode.ASK)), project, False
    here = Path() if options.session else project_root(options.start)
    journal = Journal.open(which.find(options.session, here), write=not options.fork)
    try:
        project = Path(opened.read(journal).cwd)
        if not project.is_dir():
            raise UsageError(
                f"The folder of session {journal.id} is gone: {project}.", hint="Bring it back first."
            )
        if not options.fork:
            return journal, project, True
        with journal:
            return Journal.fork(journal), project, True
    except BaseException:
        journal.close()
        raise


def _begin(options: Options, recorder: Recorder, project: Path, *, resumed: bool) -> None:
    if resumed:
        recorder.emit(
            events.SessionStarted(version=__version__, cwd=str(project), argv=options.argv, resumed=True)
        )
        for damage in recorder.journal.warnings:
            recorder.notice("warning", f"The session was damaged: {damage.text}")


def _talk(
    options: Options,
    front: Person,
    recorder: Recorder,
    history: History,
    project: Path,
    jobs: Jobs,
    bench: Workbench,
    theirs: tuple[Tool[Any], ...],
) -> Talk:
    def chosen(what: str, given: str, usual: str) -> str:
        """What the person gives now, else what held before, else what is usual; it holds from here."""
        value = given or history.chosen.get(what, "") or usual
        if value != history.chosen.get(what):
            recorder.emit(talk.Chosen(what=what, value=value))
        return value

    before = history.chosen.get("mode")
    mode = Mode(chosen("mode", str(options.mode or ""), str(Mode.ASK)))
    effort = chosen("effort", options.effort, "auto")
    provider, moves = options.model(options.named or history.chosen.get("model", ""))
    chosen("model", provider.name, "")
    asking = threading.Lock()

    def choose(question: Question, choices: tuple[str, ...]) -> str:
        hooks.tell(question.text)
        with asking:  # subagents ask too
            return front.choose(question, choices)

    def warn(text: str) -> None:
        recorder.notice("warning", text)

    rights = Rights(project, mode, options.rules, front.interactive, choose, options.save, warn)
    trusted = is_trusted(project)
    hooks = _hooks(recorder, project, rights, trusted=trusted, warn=warn)
    place = Place(project, rights, choose if front.interactive else None)
    modes = Modes(recorder, rights, jobs, place.choose)
    kinds = kinds_of.kinds(project, trusted=trusted, warn=warn)
    skills = Skills.read(project, trusted=trusted, warn=warn)
    blobs = recorder.journal.blobs
    if "head" not in history.chosen:
        head = prompt.head(
            project,
            rung=rights.gate.rung,
            trusted=trusted,
            start=options.start,
            more=(skills.told(warn), kinds_of.told(kinds)),
        )
        chosen("head", blobs.put(head.encode("utf-8", "replace")), "")
    head = blobs.get(history.chosen["head"]).decode()

    tested = has_tests(project) or options.tools is not None
    at_bench = (Localise(bench), TypedEdits(bench), Verify(bench)) if tested else ()

    def tools(of: Recorder) -> dict[str, Tool[Any]]:
        own = (Repair(of), Log(of.journal), Agent(subagents.work), Plan(modes.propose), Skill(skills.load))
        return registry.tools(options.tools, (*own, *at_bench, *theirs))

    def watch(of: History) -> Watch:
        return Hooked(Watching(project, head, of, trusted), hooks)

    subagents = Subagents(recorder, place, options.model, kinds, tools, watch)
    own = tools(recorder)
    told = registry.told(fitting(own, provider.capabilities))
    made = Talk(
        recorder,
        history,
        provider,
        Hands(
            recorder,
            own,
            rights.gate,
            diagnosed(place.contexts(recorder, jobs), project, jobs),
            watch(history),
        ),
        head,
        told,
        Compactor(recorder, history, provider, head, told),
        effort=effort,
        cap=options.cap,
        limits=options.limits,
        moves=moves,
        modes=modes,
        hooks=hooks,
    )
    subagents.caller = made
    begun = hooks.at("SessionStart", {"source": "startup" if before is None else "resume"})
    if begun.context:
        made.say((Text(begun.context),), Author.DESKAGENT)
    if words := prompt.of_mode(mode, before):
        made.say((Text(words),), Author.DESKAGENT)
    return made
