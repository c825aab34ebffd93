"""The gate before every call: rules, the mode, what was approved before, and the person."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass, field

from deskagent.agent.converse.acting import Decision, Verdict
from deskagent.agent.converse.rules import Rule, Rules
from deskagent.agent.front import Question
from deskagent.agent.permissions import NO_SANDBOX_HINT, Mode
from deskagent.terminal.types import Rung
from deskagent.tools.base import Effect, Wish

ONCE, SESSION, ALWAYS, NO = "once", "session", "always", "no"
_FREE: dict[Mode, frozenset[Effect]] = {
    Mode.PLAN: frozenset({Effect.READ, Effect.NONE, Effect.RUN}),
    Mode.ASK: frozenset({Effect.READ, Effect.NONE}),
    Mode.AUTO: frozenset({Effect.READ, Effect.NONE, Effect.WRITE, Effect.RUN}),
    Mode.FULL: frozenset(Effect),
}
"""What needs no asking. In plan mode commands run in a sandbox in which nothing is writable."""
_PLANNED = _FREE[Mode.PLAN] | {Effect.NETWORK}
"""What may be asked for in plan mode: to read a page changes nothing."""
_WHAT = {
    Effect.READ: "Read this?",
    Effect.WRITE: "Make this change?",
    Effect.RUN: "Run this?",
    Effect.NETWORK: "Connect to this?",
    Effect.OUTSIDE: "Do this outside of the sandbox?",
}


@dataclass
class Gate:
    """ask: puts a question to the person and gives one of the choices. interactive: whether there is one. save: keeps a
    rule for good. mode may be changed while it is in use."""

    mode: Mode
    rung: Rung
    rules: Rules
    interactive: bool
    ask: Callable[[Question, tuple[str, ...]], str]
    save: Callable[[Rule], None]
    _approved: set[str] = field(default_factory=set)
    _asking: threading.Lock = field(default_factory=threading.Lock)

    def decide(self, tool: str, wish: Wish, who: str = "") -> Decision:
        """As Gatekeeper. One question at a time. who: the subagent that wants it, for the person to know."""
        if rule := self.rules.denied(tool, wish):
            return Decision(
                Verdict.DENY,
                f"rule {rule}",
                f"Denied by the person's rule {rule}. Don't try it in other ways.",
            )
        unconfined = wish.effect is Effect.RUN and self.rung is Rung.NONE
        if self.mode is Mode.PLAN and unconfined:
            return Decision(
                Verdict.DENY, "plan mode", f"In plan mode nothing runs without a sandbox. {NO_SANDBOX_HINT}"
            )
        if self.mode is Mode.PLAN and wish.effect not in _PLANNED:
            return Decision(
                Verdict.DENY, "plan mode", "This is plan mode: nothing is changed. Plan it instead."
            )
        held = self.rules.asked(tool, wish)
        if held is None and (by := self._free(tool, wish)):
            return Decision(Verdict.ALLOW, by)
        with self._asking:
            if wish.key in self._approved:
                return Decision(Verdict.ALLOW, "approved for the session")
            return self._asked(tool, wish, who)

    def _free(self, tool: str, wish: Wish) -> str:
        """What makes asking needless, in words; "" where nothing does."""
        if by := self.rules.allowed(tool, wish):
            return f"rule {by}"
        unconfined = wish.effect is Effect.RUN and self.rung is Rung.NONE and self.mode is not Mode.FULL
        return "" if unconfined or wish.effect not in _FREE[self.mode] else f"{self.mode} mode"

    def _asked(self, tool: str, wish: Wish, who: str) -> Decision:
        if not self.interactive:
            return Decision(
                Verdict.DENY, "nobody to ask", f"Not permitted, and nobody can be asked. {self._hint(wish)}"
            )
        narrow = _narrow(tool, wish)
        choices = (ONCE, SESSION, *([ALWAYS] if narrow else []), NO)
        what = _WHAT.get(wish.effect, "Do this?")
        answer = self.ask(Question(f"{who}: {what}" if who else what, wish.subject, wish.key), choices)
        if answer == ALWAYS and narrow:
            for rule in narrow:
                self.save(rule)
            self.rules = Rules((*self.rules.allow, *narrow), self.rules.ask, self.rules.deny)
        if answer in (SESSION, ALWAYS):
            self._approved.add(wish.key)
        if answer in (ONCE, SESSION, ALWAYS):
            return Decision(Verdict.ALLOW, f"the person, {answer}")
        more = answer.removeprefix(NO).strip(" :")
        return Decision(
            Verdict.DENY, "the person", f"The person said no.{f' They say: {more}' if more else ''}"
        )

    def _hint(self, wish: Wish) -> str:
        if wish.effect is Effect.RUN and self.rung is Rung.NONE:
            return NO_SANDBOX_HINT
        return "What is allowed without asking is said by --allowed-tools or --permission-mode."


def _narrow(tool: str, wish: Wish) -> tuple[Rule, ...]:
    """Rules that allow this call again and no other; of a host or a server's tool, all its calls."""
    if wish.host:
        return (Rule(tool, wish.host),)
    if tool.startswith("mcp__"):
        return (Rule(tool),)
    if wish.effect is Effect.RUN:
        plain = all(word and not set(word) & set("()* \t\n") for words in wish.commands for word in words)
        return tuple(Rule(tool, " ".join(words)) for words in wish.commands) if plain else ()
    return ()
