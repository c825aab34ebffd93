"""Rules of what may happen without asking: `allow`, `ask`, `deny`, each of a tool, or of some of its calls.

`read` is every call of a tool; `terminal(git status)` a command with just these words; `terminal(npm run *)` one that
begins so; `edit(src/**)` files as in .gitignore; `fetch(docs.python.org)` a host, `fetch(*.python.org)` those below
one, with `domain:` before it or without. `mcp__github` and `mcp__github__*` are all tools of an MCP server. Deny goes
first, then ask, then allow. A shell line is allowed only where each of its commands is.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from pathspec import GitIgnoreSpec

from deskagent.errors import UsageError
from deskagent.tools.base import Effect, Wish

_ALIKE = {"edit": ("patch",), "read": ("image",)}
"""Tools that do what another does in another form: the rule of that one is theirs too."""
_HELD = {"edit": ("patch", "write"), "write": ("patch",), "read": ("image",)}
"""The same for rules that hold back: what mustn't be edited isn't written anew either."""
_FORM = re.compile(r"([\w*-]+)(?:\((.*)\))?")
_SERVERS = "mcp__"
_GIT_RUNS = (
    "-c",
    "--exec-path",
    "--upload-pack",
    "--receive-pack",
    "-O",
    "--open-files-in-pager",
    "--ext-diff",
)
_GIT = (
    *_GIT_RUNS,
    "--textconv",
    "--output",
    "-C",
    "--git-dir",
    "--work-tree",
    "--config-env",
    "--exec",
    "-x",
)
RUNS_MORE: dict[str, tuple[str, ...]] = {
    "find": ("-exec", "-execdir", "-ok", "-okdir", "-delete", "-fprintf", "-fprint", "-fprint0", "-fls"),
    "fd": ("-x", "--exec", "-X", "--exec-batch"),
    "rg": ("--pre", "--hostname-bin", "--search-zip", "-z"),
    "grep": (),
    "sort": ("-o", "--output", "--compress-program", "-T"),
    "tree": ("-o",),
    "git": _GIT,
    "tar": ("--to-command", "--checkpoint-action", "-I", "--use-compress-program", "--rsh-command"),
    "less": ("-o", "-O", "--log-file"),
    "man": ("-P", "--pager", "-H", "--html"),
    "date": ("-s", "--set"),
    "xxd": ("-r",),
    "diff": ("--output",),
    "make": ("-f", "--file", "--eval", "-C", "-I"),
    "pytest": ("-p", "-c", "--rootdir", "-o", "--override-ini", "--basetemp"),
}
"""Options by which a command that seems to look only writes or runs something else: a rule has to spell them out."""
_WRAPS = """
sh bash dash zsh fish busybox env sudo doas nice nohup time timeout xargs exec eval command builtin source . coproc
watch parallel ssh setsid stdbuf chroot unshare nsenter awk gawk mawk sed perl python python3 ruby node php lua tclsh
expect script ed ex vi vim nvim emacs
"""
WRAPS = frozenset(_WRAPS.split())
"""Commands whose arguments are programs: a rule with `*` doesn't cover them."""


@dataclass(frozen=True, slots=True)
class Rule:
    """tool: its name, `*` for every one. of: what in the brackets stands, None where there are none."""

    tool: str
    of: str | None = None

    @classmethod
    def parse(cls, text: str) -> Rule:
        """Errors: UsageError."""
        found = _FORM.fullmatch(text.strip())
        if found is None:
            raise UsageError(
                f"{text!r} is no rule.", hint="Rules look like read, terminal(git status), edit(src/**)."
            )
        return cls(found[1], found[2])

    def __str__(self) -> str:
        return self.tool if self.of is None else f"{self.tool}({self.of})"

    def allows(self, tool: str, wish: Wish) -> bool:
        """Whether all of a call is what the rule says. Of a shell line, see `covered`."""
        if not (self._names(tool) or tool in _ALIKE.get(self.tool, ())):
            return False
        if self.of is None:
            return True
        if wish.host:
            return self._is_host(wish.host)
        if wish.effect is Effect.RUN:
            return bool(wish.commands) and all(self.covers(words) for words in wish.commands)
        spec = GitIgnoreSpec.from_lines([self.of])
        return bool(wish.paths) and all(spec.match_file(path) for path in wish.paths)

    def _names(self, tool: str) -> bool:
        if not self.tool.startswith(_SERVERS):
            return self.tool in (tool, "*")
        whole = self.tool.removesuffix("*").removesuffix("__")
        if self.tool.endswith("*") and self.tool != f"{whole}__*":
            return tool.startswith(self.tool[:-1])
        return tool == self.tool or (whole.count("__") == 1 and tool.startswith(f"{whole}__"))

    def _is_host(self, host: str) -> bool:
        wanted = (self.of or "").removeprefix("domain:").strip().rstrip(".").lower()
        return host.endswith(wanted[1:]) if wanted.startswith("*.") else host == wanted

    def covers(self, words: tuple[str, ...]) -> bool:
        """Whether a simple command is what the rule says."""
        wanted = tuple((self.of or "").split())
        if not wanted or wanted[-1] != "*":
            return words == wanted
        given, rest = words[: len(wanted) - 1], words[len(wanted) - 1 :]
        if given != wanted[:-1] or not given:
            return False
        return words[0] not in WRAPS and not any(_does_more(words[0], word) for word in rest)

    def touches(self, tool: str, wish: Wish) -> bool:
        """Whether any of a call is what the rule says: for rules that hold back."""
        if not (self._names(tool) or tool in _HELD.get(self.tool, ())):
            return False
        if self.of is None or wish.host:
            return self.of is None or self._is_host(wish.host)
        if wish.effect is Effect.RUN:
            wanted = tuple(self.of.removesuffix("*").split())
            # what isn't clear may hold anything: the words are looked for anywhere in it
            lines = wish.commands or (tuple(re.findall(r"[^\s;&|()`$<>]+", wish.subject)),)
            return any(_within(wanted, (words[0].rpartition("/")[2], *words[1:])) for words in lines if words)
        spec = GitIgnoreSpec.from_lines([self.of])
        return any(spec.match_file(path) for path in wish.paths)


@dataclass(frozen=True, slots=True)
class Rules:
    allow: tuple[Rule, ...] = ()
    ask: tuple[Rule, ...] = ()
    deny: tuple[Rule, ...] = ()

    @classmethod
    def parse(cls, allow: Iterable[str] = (), ask: Iterable[str] = (), deny: Iterable[str] = ()) -> Rules:
        """Errors: UsageError."""
        return cls(*(tuple(map(Rule.parse, each)) for each in (allow, ask, deny)))

    def denied(self, tool: str, wish: Wish) -> Rule | None:
        return next((rule for rule in self.deny if rule.touches(tool, wish)), None)

    def asked(self, tool: str, wish: Wish) -> Rule | None:
        return next((rule for rule in self.ask if rule.touches(tool, wish)), None)

    def allowed(self, tool: str, wish: Wish) -> str | None:
        """The rules that allow all of a call, in words; None where some of it isn't."""
        if one := next((rule for rule in self.allow if rule.allows(tool, wish)), None):
            return str(one)
        if wish.effect is not Effect.RUN or not wish.commands:
            return None
        own = [rule for rule in self.allow if rule._names(tool) and rule.of is not None]
        each = [next((rule for rule in own if rule.covers(words)), None) for words in wish.commands]
        if None in each:
            return None
        return ", ".join(dict.fromkeys(map(str, each)))


def _does_more(command: str, word: str) -> bool:
    for option in RUNS_MORE.get(command, ()):
        long = option.startswith("--")
        if word == option or (long and word.startswith(f"{option}=")):
            return True
        # short options may have their value glued on, or be glued to others; long ones may be cut short
        if not long and len(option) == 2 and re.match(rf"-\w*{re.escape(option[1])}", word):
            return True
        if long and word.startswith("--") and len(word) > 3 and option.startswith(word.split("=")[0]):
            return True
    return False


def _within(wanted: tuple[str, ...], words: tuple[str, ...]) -> bool:
    size = len(wanted)
    return any(words[at : at + size] == wanted for at in range(len(words) - size + 1))
