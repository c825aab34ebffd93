"""The answer as text: what a person reads on stdout when a run has ended."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import click

from deskagent.terminal.text import printable

_SHOWN_TESTS = 10
_SHOWN_PLACES = 5
_SHOWN_RIVALS = 5


@dataclass(frozen=True)
class Painted:
    """Text with a look (a colour name or "bold"); inert before it is painted."""

    text: str
    look: str

    def __str__(self) -> str:
        inert = printable(self.text)
        return click.style(inert, bold=True) if self.look == "bold" else click.style(inert, fg=self.look)


def answer(result: dict[str, Any]) -> str:
    """`result` (see agent.report) as text, foreign text made inert; `click.echo` takes the colours off where
    nobody sees them."""
    return "\n".join(str(line) if isinstance(line, Painted) else printable(line) for line in _lines(result))


def complaint(result: dict[str, Any]) -> str:
    """What went wrong, what to do, and where the session is."""
    error = result["error"] or {"message": "ended early.", "hint": ""}
    lines = [f"deskagent: {error['message']}", *([f"  {error['hint']}"] if error["hint"] else [])]
    if result["applied"]:
        files = ", ".join(file["path"] for file in result["patch"]["files"])
        undo = f"deskagent undo {result['session_id']}"
        lines.append(f"  The patch is in {files} already. To take it back: {undo}")
    elif result["session_id"]:
        lines.append(f"  session {result['session_id']}")
    return printable("\n".join(lines))


def _lines(result: dict[str, Any]) -> Iterator[str | Painted]:
    yield from _OPENINGS[result["status"]](result)
    yield from _models(result)
    yield ""
    yield _footer(result)


def _fixed(result: dict[str, Any]) -> Iterator[str | Painted]:
    where = "applied" if result["applied"] else f"not applied: {result['apply_note']}"
    others = result["evidence"]["fail_as_before"]
    which = "The tests that the request names pass" if others else "The tests pass"
    yield Painted(f"{which} with this patch ({where}).", "bold")
    yield ""
    yield from _diff(result["patch"]["diff"])
    yield ""
    evidence = result["evidence"]
    now = evidence["failed_before_pass_now"]
    yield f"Failed before, {_pass(now)} now:"
    yield from _some(now)
    still = len(evidence["passed_before_pass_now"])
    if still:
        yield f"Passed before and still {'does' if still == 1 else 'do'}: {still}."
    if others:
        yield f"Not named in the request, and {'fails' if len(others) == 1 else 'fail'} as before:"
        yield from _some(others)
    after = evidence["after"]
    yield f"`{after['command']}`, run cold on a fresh copy with the patch: {after['summary']}."
    yield from _regression(result)
    rivals = result["alternatives"]
    if rivals:
        yield ""
        yield f"{_count(len(rivals), 'other edit passes', 'other edits pass')} the tests too:"
        for number, rival in enumerate(rivals[:_SHOWN_RIVALS], 1):
            yield f"\n{number}. {rival['apart']}"
            yield from _diff(rival["diff"], changes_only=True, indent="   ")
        if len(rivals) > _SHOWN_RIVALS:
            yield f"\n… and {len(rivals) - _SHOWN_RIVALS} more (--output-format json lists them)."
    yield ""
    yield "Passing tests don't make a patch right: read it before you keep it."


def _nothing(result: dict[str, Any]) -> Iterator[str | Painted]:
    yield Painted("Nothing to fix: the tests pass as they are.", "bold")
    before = result["evidence"]["before"]
    yield f"`{before['command']}`: {before['summary']}."


def _not_fixed(result: dict[str, Any]) -> Iterator[str | Painted]:
    tried = result["candidates"]
    if result["status"] == "limit" and not tried:
        yield "No patch found: a limit left no time to try an edit."
        yield "Give it more by --max-seconds."
    elif result["status"] == "limit":
        yield f"No patch found: a limit ended the search after {_count(tried, 'candidate', 'candidates')}."
        yield "More may be reached with --effort max, --max-seconds or --max-candidates."
    else:
        yield f"No patch found: everything within the limits was tried ({_count(tried, 'candidate', 'candidates')})."
    yield "The working tree is as it was."
    evidence = result["evidence"] or {}
    failing = [t["id"] for t in evidence.get("failing_before") or [] if t["id"]]
    if failing:
        yield ""
        yield "Failing:"
        yield from _some(failing)
    yield from _regression(result)
    if result["suspects"]:
        yield ""
        yield "Most suspect places:"
        for place in result["suspects"]:
            why = f"  {'; '.join(place['reasons'])}" if place["reasons"] else ""
            yield f"  {place['path']}:{place['line']}  {place['score']:.2f}{why}"
    ruled = result["ruled_out"]
    if ruled:
        kinds = ", ".join(f"{name} {count}" for name, count in list(ruled["by_operator"].items())[:12])
        yield ""
        yield f"Ruled out by the tests: {_count(ruled['tried'], 'edit', 'edits')} ({kinds})."


_OPENINGS = {
    "fixed": _fixed,
    "nothing_to_fix": _nothing,
    "not_fixed": _not_fixed,
    "limit": _not_fixed,
}


def _regression(result: dict[str, Any]) -> Iterator[str | Painted]:
    """Since when the tests fail, where `--since` asked for it and it was found."""
    found = result["regression"]
    if not found:
        return
    green, culprit = found["last_green"], found["culprit"]
    later = "with what is not committed" if found["uncommitted"] else "later"
    since = f"since {_commit(culprit)}" if culprit else later
    yield ""
    if found["other_cause"]:
        yield f"Last green at {_commit(green)}; since {_commit(culprit) if culprit else 'then'} these fail:"
        yield from _some(found["tests"])
        yield "These have another cause, and remain:"
        yield from _some(found["other_cause"])
    else:
        yield f"Last green at {_commit(green)}; the tests fail {since}."
    places = [
        p["path"] if p["line"] is None else f"{p['path']}:{p['line']}" for p in found["enough_to_take_back"]
    ]
    if places:
        more = f" and {len(places) - _SHOWN_PLACES} more" if len(places) > _SHOWN_PLACES else ""
        changes = _count(found["changes"], "change", "changes")
        yield f"Of {changes} since, this is enough to take back: {', '.join(places[:_SHOWN_PLACES])}{more}."
    if found["diff"] and result["patch"] is None:
        yield "It would repair the former; it was not applied, since the command would still fail:"
        yield from _diff(found["diff"])


def _models(result: dict[str, Any]) -> Iterator[str | Painted]:
    """What the models did that were asked, a line each."""
    asked = [model for model in result["models"] if model["began"]]
    if asked:
        yield ""
    for model in asked:
        ended = (
            "the chosen patch"
            if model["chosen"]
            else "a patch that passes"
            if model["passes"]
            else "no patch"
        )
        cost = f", ${model['cost_usd']:.4f}" if model["cost_usd"] else ""
        turns = _count(model["turns"], "answer", "answers")
        why = f" {model['why']}" if model["why"] and not model["passes"] else ""
        yield f"{model['name']}: {ended} ({turns}, {model['seconds']:.1f} s{cost}).{why}"


def _commit(commit: dict[str, str]) -> str:
    return f"{commit['commit'][:10]} {commit['subject']!r}"


def _footer(result: dict[str, Any]) -> str:
    steps = ", ".join(f"{s['step']} {s['tier']} {s['seconds']:.1f} s" for s in result["steps"])
    parts = [
        f"session {result['session_id']}",
        _count(result["candidates"], "candidate", "candidates"),
        f"{result['seconds']:.1f} s" + (f" ({steps})" if steps else ""),
    ]
    if result["sandbox"]:
        parts.append(f"sandbox {result['sandbox']}")
    return " · ".join(parts)


def _some(ids: list[str]) -> Iterator[str | Painted]:
    yield from (f"  {name}" for name in ids[:_SHOWN_TESTS])
    if len(ids) > _SHOWN_TESTS:
        yield f"  … and {len(ids) - _SHOWN_TESTS} more"


_COLOURS = {"+": "green", "-": "red", "@": "cyan"}


def _diff(diff: str, *, changes_only: bool = False, indent: str = "") -> Iterator[str | Painted]:
    """The lines of a diff in their colours; with `changes_only` without headers and context."""
    for line in diff.rstrip("\n").split("\n"):
        head = line.startswith(("diff --git ", "+++ ", "--- "))
        if changes_only and (head or line[:1] not in ("+", "-")):
            continue
        colour = "bold" if head else _COLOURS.get(line[:1])
        yield Painted(indent + line, colour) if colour else indent + line


def _count(number: int, one: str, many: str) -> str:
    return f"{number} {one if number == 1 else many}"


def _pass(ids: list[str]) -> str:
    return "passes" if len(ids) == 1 else "pass"
