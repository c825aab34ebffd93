"""`go test`: every result with -json, tests alone with -run, coverage as it writes it."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from deskagent.repair.command import TestCommand
from deskagent.repair.types import TestResult

_VALUED = frozenset(
    [
        "-run",
        "-count",
        "-timeout",
        "-tags",
        "-p",
        "-parallel",
        "-cpu",
        "-bench",
        "-skip",
        "-shuffle",
        "-covermode",
        "-coverpkg",
        "-ldflags",
        "-gcflags",
        "-mod",
        "-exec",
        "-vet",
    ]
)
_PROFILE = re.compile(r"^(\S+?):(\d+)\.\d+,(\d+)\.\d+ \d+ (\d+)$", re.MULTILINE)
_MODULE = re.compile(r"^module\s+(\S+)", re.MULTILINE)


@dataclass(frozen=True)
class Go:
    """`flags` of go test, `packages` that are tested, `module` the path of the module in the project's folder."""

    command: TestCommand
    flags: tuple[str, ...]
    packages: tuple[str, ...]
    module: str

    @property
    def named(self) -> TestCommand:
        return replace(
            self.command, argv=(self.command.argv[0], "test", "-json", *self.flags, *self.packages)
        )

    def within(self, seconds: float) -> Go:
        return replace(self, flags=(*self.flags, f"-timeout={seconds:.0f}s"))

    def only(self, tests: Sequence[TestResult]) -> TestCommand | None:
        where = [_split(test.id) for test in tests]
        if not where or any(flag.partition("=")[0] in ("-run", "--run") for flag in self.flags):
            return None
        packages = tuple(dict.fromkeys(package for package, _ in where))
        names = list(dict.fromkeys(name for _, name in where))
        run = () if "" in names else ("-run", f"^({'|'.join(map(re.escape, names))})$")
        return replace(
            self.command,
            argv=(self.command.argv[0], "test", "-json", "-vet=off", *self.flags, *run, *packages),
        )

    def traced(self, test: TestResult, to: Path) -> TestCommand | None:
        package, name = _split(test.id)
        if not name or any(flag.startswith(("-cover", "-run")) for flag in self.flags):
            return None
        first, _, case = test.id[len(package) + 1 :].partition("/")
        pattern = f"^{re.escape(first)}$" + (f"/^{re.escape(case)}$" if case and "/" not in case else "")
        own = ("-json", "-vet=off", "-run", pattern, "-coverpkg=./...", f"-coverprofile={to / 'cover.out'}")
        return replace(self.command, argv=(self.command.argv[0], "test", *own, *self.flags, package))

    def lines(self, written: Path, root: Path, copy: Path) -> Mapping[str, frozenset[int]]:
        file = written / "cover.out"
        found: dict[str, set[int]] = {}
        text = file.read_text("utf-8", "replace") if file.is_file() else ""
        for path, first, last, count in _PROFILE.findall(text):
            if int(count) and path.startswith(f"{self.module}/") and int(last) - int(first) < 100_000:
                own = path.removeprefix(f"{self.module}/")
                found.setdefault((self.command.cwd / own).as_posix(), set()).update(
                    range(int(first), int(last) + 1)
                )
        return {path: frozenset(lines) for path, lines in found.items()}


def understand(command: TestCommand, project: Path) -> Go | None:
    """The command, if it is `go test …`."""
    words = list(command.argv)
    if Path(words[0]).name != "go" or words[1:2] != ["test"] or "-args" in words:
        return None
    flags: list[str] = []
    index = 2
    while index < len(words) and words[index].startswith("-"):
        flags.append(words[index])
        if words[index] in _VALUED and index + 1 < len(words):
            index += 1
            flags.append(words[index])
        index += 1
    mod = project / command.cwd / "go.mod"
    module = _MODULE.search(mod.read_text("utf-8", "replace")) if mod.is_file() else None
    kept = tuple(flag for flag in flags if flag not in ("-v", "-json"))
    return Go(command, kept, tuple(words[index:]), module[1] if module else "")


def _split(test: str) -> tuple[str, str]:
    """The package and the test's own name of `example.com/a/b.TestX/case`; no name for a whole package."""
    found = re.match(r"^(.*?)\.((?:Test|Example|Fuzz|Benchmark)[^/]*)(?:/.*)?$", test)
    return (found[1], found[2]) if found else (test, "")
