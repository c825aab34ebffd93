"""`node --test`, called by name or as the `test` script of package.json; coverage as V8 writes it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from deskagent.errors import UsageError
from deskagent.repair.command import TestCommand
from deskagent.repair.recipes import read_text
from deskagent.repair.shellline import parse
from deskagent.repair.types import TestResult

_PLAIN = re.compile(
    r"--(?:test|experimental-[\w-]+|no-warnings|enable-source-maps|trace-[\w-]+|test-[\w-]+(?:=.*)?|import=.*|loader=.*|require=.*)$"
)
_VALUED = {"--import", "--loader", "-r", "--require", "--test-concurrency", "--conditions", "-C"}
_SCRIPTS = {
    "npm": (["test"], ["t"], ["run", "test"]),
    "yarn": (["test"], ["run", "test"]),
    "pnpm": (["test"], ["run", "test"]),
}
_SOURCES = (".js", ".mjs", ".cjs")
_MAX = 64 << 20


@dataclass(frozen=True)
class Node:
    """`options` of node itself, then what is tested (files, patterns; empty: what node finds)."""

    command: TestCommand
    program: str
    options: tuple[str, ...]
    targets: tuple[str, ...]

    @property
    def named(self) -> TestCommand:
        return self._command(self.options, self.targets)

    def within(self, seconds: float) -> Node:
        return replace(self, options=(*self.options, f"--test-timeout={seconds * 1000:.0f}"))

    def only(self, tests: Sequence[TestResult]) -> TestCommand | None:
        files = _files_of(tests)
        leaves = [re.sub(r" \(\d+\)$", "", test.id.rpartition(" > ")[2]) for test in tests]
        if files is None or not leaves or len(leaves) > 30:
            return None
        if any(leaf in files for leaf in leaves):  # the file itself failed
            return self._command(self.options, files)
        patterns = [f"--test-name-pattern=/^{_escaped(leaf)}$/" for leaf in dict.fromkeys(leaves)]
        return self._command((*self.options, *patterns), files)

    def traced(self, test: TestResult, to: Path) -> TestCommand | None:
        command = self.only([test])
        if command is None and not test.frames:
            # where a passing test lies isn't printed: its name is looked for in all files
            leaf = test.id.rpartition(" > ")[2]
            command = self._command(
                (*self.options, f"--test-name-pattern=/^{_escaped(leaf)}$/"), self.targets
            )
        return command and replace(command, env={**command.env, "NODE_V8_COVERAGE": str(to)})

    def lines(self, written: Path, root: Path, copy: Path) -> Mapping[str, frozenset[int]]:
        found: dict[str, set[int]] = {}
        for file in sorted(written.glob("coverage-*.json")):
            if file.stat().st_size > _MAX:
                continue
            try:
                scripts = json.loads(file.read_bytes())["result"]
                for script in scripts:
                    path = _path_of(str(script["url"]), root)
                    if path is not None and (copy / path).is_file():
                        text = (copy / path).read_bytes().decode("utf-8", "replace")
                        found.setdefault(path, set()).update(covered(text, script["functions"]))
            except (ValueError, KeyError, TypeError):
                continue  # written by the tests' own process: it may hold anything
        return {path: frozenset(lines) for path, lines in found.items() if lines}

    def _command(self, options: Iterable[str], targets: Iterable[str]) -> TestCommand:
        reporter = (
            () if any(o.startswith("--test-reporter") for o in self.options) else ("--test-reporter=tap",)
        )
        return replace(self.command, argv=(self.program, *options, *reporter, *targets))


def understand(command: TestCommand, project: Path) -> Node | None:
    """The command, if it is `node --test …` or a package manager's `test` that is."""
    words = list(command.argv)
    name = Path(words[0]).name
    if name in _SCRIPTS and words[1:] in _SCRIPTS[name]:
        found = _script(project / command.cwd)
        if found is None:
            return None
        words, command = found, command
        name = words[0]
    if name != "node" or "--test" not in words:
        return None
    options: list[str] = []
    index = 1
    while index < len(words) and words[index].startswith("-"):
        if words[index] in _VALUED and index + 1 < len(words):
            options += words[index : index + 2]
            index += 2
            continue
        if not _PLAIN.match(words[index]):
            return None
        options.append(words[index])
        index += 1
    return Node(command, words[0], tuple(options), tuple(words[index:]))


def _script(folder: Path) -> list[str] | None:
    """The words of package.json's `test`, None where only a shell can run it or more runs around it."""
    try:
        scripts = json.loads(read_text(folder / "package.json") or "{}").get("scripts", {})
        line = scripts.get("test", "")
        if not isinstance(line, str) or {"pretest", "posttest"} & scripts.keys():
            return None
        commands = parse(line)
    except (ValueError, AttributeError, RecursionError, UsageError):
        return None
    if not commands or len(commands) != 1 or any(word.globs or word.assigns for word in commands[0]):
        return None
    return [word.text for word in commands[0]]


def _files_of(tests: Sequence[TestResult]) -> tuple[str, ...] | None:
    """The test files that the tests lie in, None where one's isn't known."""
    files = []
    for test in tests:
        path = test.frames[0].path if test.frames else ""
        if not path or path.startswith("/"):
            return None
        files.append(path)
    return tuple(dict.fromkeys(files))


def _escaped(text: str) -> str:
    return re.sub(r"([\\^$.*+?()\[\]{}|/])", r"\\\1", text)


def _path_of(url: str, root: Path) -> str | None:
    if not url.startswith("file://") or not url.endswith(_SOURCES) or "/node_modules/" in url:
        return None
    path = Path(unquote(urlsplit(url).path))
    return path.relative_to(root).as_posix() if path.is_relative_to(root) else None


def covered(text: str, functions: Iterable[Mapping[str, Any]]) -> set[int]:
    """1-based lines that ran. V8's ranges are nested, in characters of UTF-16: of those that hold a character the
    innermost, which comes last, counts."""
    units = text.encode("utf-16-le", "surrogatepass")
    ran = bytearray(len(units) // 2)
    for function in functions:
        for part in function["ranges"]:
            start, end = max(0, int(part["startOffset"])), min(len(ran), int(part["endOffset"]))
            if start < end:
                ran[start:end] = (b"\1" if part["count"] else b"\0") * (end - start)
    lines = set()
    number = 1
    for index in range(len(ran)):
        unit = units[2 * index : 2 * index + 2]
        if unit == b"\n\0":
            number += 1
        elif ran[index] and unit not in (b" \0", b"\t\0", b"\r\0", b"}\0", b")\0", b";\0"):
            lines.add(number)
    return lines
