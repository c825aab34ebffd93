"""Runs `node --test` and `go test` and says how each test ended, without the product under test."""

from __future__ import annotations

import json
import re
import shlex
import subprocess
from collections.abc import Mapping
from pathlib import Path

PROGRAMS = ("node", "npm", "go")
_POINT = re.compile(r"^( *)(not ok|ok) \d+ - (.*?)( # (?:SKIP|TODO).*)?$")
_START = re.compile(r"^( *)# Subtest: (.*)$")


def run(folder: Path, command: str, env: Mapping[str, str], seconds: float) -> dict[str, str]:
    """Test id → "passed", "failed", "error" or "skipped". subprocess.TimeoutExpired after `seconds`."""
    words = shlex.split(command)
    if words[0] == "go":
        return _go(_output([*words[:2], "-json", "-count=1", *words[2:]], folder, env, seconds))
    if words[0] == "npm":  # the cases' own scripts are `node --test`
        words = ["node", "--test"]
    return _node(_output([words[0], "--test-reporter=tap", *words[1:]], folder, env, seconds))


def _output(words: list[str], folder: Path, env: Mapping[str, str], seconds: float) -> str:
    done = subprocess.run(
        words,
        cwd=folder,
        env=env,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=seconds,
        check=False,
    )
    return done.stdout


def _node(text: str) -> dict[str, str]:
    """Results of TAP; a suite's own is left out."""
    outcomes: dict[str, str] = {}
    names: list[str] = []
    for line in text.splitlines():
        if found := _START.match(line):
            names[len(found[1]) // 4 :] = [found[2]]
        elif found := _POINT.match(line):
            name = " > ".join([*names[: len(found[1]) // 4], found[3]])
            if not any(other.startswith(f"{name} > ") for other in outcomes):
                outcomes[name] = "skipped" if found[4] else "passed" if found[2] == "ok" else "failed"
    return outcomes


def _go(text: str) -> dict[str, str]:
    """Results of -json; a test with cases is left out, a package that broke stands for its tests."""
    words = {"pass": "passed", "fail": "failed", "skip": "skipped"}
    outcomes: dict[str, str] = {}
    for line in text.splitlines():
        event = json.loads(line) if line.startswith("{") else {}
        if event.get("Action") in words and event.get("Test"):
            outcomes[f"{event['Package']}.{event['Test']}"] = words[event["Action"]]
        elif event.get("Action") == "fail" and not any(bad == "failed" for bad in outcomes.values()):
            outcomes[event["Package"]] = "error"
    return {
        name: how
        for name, how in outcomes.items()
        if not any(other.startswith(f"{name}/") for other in outcomes)
    }
