"""How items of the transcript look, as styled text: nothing in them is markup."""

from __future__ import annotations

import re

from textual.content import Content

from deskagent.messages import Outcome
from ui.log.items import Aside, Item, Notice, Said, State, Thought, Work
from ui.widgets.diffs import counts, diff

_MARKS: dict[State | Outcome, tuple[str, str]] = {
    State.WRITTEN: ("◌", "$muted"),
    State.WAITING: ("◌", "$text-accent"),
    State.RUNNING: ("●", "$text-accent"),
    Outcome.DONE: ("✓", "$text-success"),
    Outcome.FAILED: ("✗", "$text-error"),
    Outcome.REFUSED: ("⊘", "$text-warning"),
    Outcome.CANCELLED: ("–", "$muted"),
    Outcome.UNKNOWN: ("?", "$text-warning"),
}
_QUIET = frozenset({"read", "glob", "grep", "symbols", "git", "log", "todo", "skill"})
"""Tools whose results are for the model: folded, only their size is told."""
_DIFF_BEGINS = re.compile(r"^(?:diff --git |--- \S+\n\+\+\+ )", re.MULTILINE)
_FEW, _DIFF, _ALL = 6, 16, 2000
"""Lines of output and of a diff that are shown folded; lines of either that are ever shown."""


def said(item: Said, open: bool) -> Content:
    beside = [Content.styled(f"\n@ {name}", "$muted") for name in item.beside]
    return Content("").join([Content(item.text), *beside])


def aside(item: Aside, open: bool) -> Content:
    head = Content.styled(f"{_arrow(open)} {item.title}", "$muted")
    return Content("\n").join([head, Content.styled(_indented(item.text), "$muted")]) if open else head


def thought(item: Thought, open: bool) -> Content:
    told = [item.tier, f"{item.tokens} tokens" if item.tokens else ""]
    facts = " · ".join(filter(None, told))
    title = "thinking" if item.live else "thought"
    head = Content.styled(f"{_arrow(open)} {title}", "$muted italic")
    if facts:
        head = Content.assemble(head, (f"  {facts}", "$faint"))
    text = item.text.strip()
    if open:
        return Content("\n").join([head, Content.styled(_indented(text), "$muted italic")])
    if item.live and text:
        last = text[-600:].rstrip().split("\n")[-1][-200:]
        return Content("\n").join([head, Content.styled(_indented(last), "$muted italic")])
    return head


def notice(item: Notice, open: bool) -> Content:
    mark, style = {
        "error": ("✗", "$text-error"),
        "warning": ("!", "$text-warning"),
    }.get(item.level, ("·", "$muted"))
    words, patch = _parted(item.text)
    told = Content.assemble((f"{mark} ", style), (words, style if item.level != "info" else "$muted"))
    return Content("\n").join([told, diff(patch, _ALL if open else _DIFF)]) if patch else told


def _parted(text: str) -> tuple[str, str]:
    """Words, and the diff that follows them, "" for none."""
    found = _DIFF_BEGINS.search(text)
    return (text[: found.start()].rstrip() or "Taken back:", text[found.start() :]) if found else (text, "")


def work(item: Work, open: bool) -> Content:
    mark, style = _MARKS[item.state]
    about, *more = item.about.split("\n")
    lines = [
        Content.assemble(
            (f"{mark} ", style),
            (item.name, "bold"),
            (f" {about}{' …' if more else ''}", "$foreground" if item.ended else "$text-accent"),
            (_facts(item), "$muted"),
        )
    ]
    lines += _body(item, open)
    return Content("\n").join(lines)


def _facts(item: Work) -> str:
    told: list[str] = []
    if item.diff:
        added, taken = counts(item.subject)
        told.append(f"+{added} −{taken}")
    elif item.state is Outcome.DONE and item.name in _QUIET and item.result.strip():
        count = item.result.strip().count("\n") + 1
        told.append(f"{count} line{'s' if count > 1 else ''}")
    if item.seconds >= 1:
        told.append(f"{item.seconds:.0f} s")
    return "  " + " · ".join(told) if told else ""


def _body(item: Work, open: bool) -> list[Content]:
    """What stands below the title: the diff or the command, output as it comes, what came of it."""
    lines: list[Content] = []
    if item.diff and item.subject:
        lines.append(diff(item.subject, _ALL if open else _DIFF))
    elif open and item.subject and item.state is not State.WRITTEN and item.subject != item.about:
        lines.append(_piped(item.subject, _ALL, "$foreground"))
    if item.inner:
        shown = item.inner if open else item.inner[-3:]
        lines.append(_piped("\n".join(shown), _ALL, "$muted", mark="┆"))
    if open and item.permitted:
        lines.append(Content.styled(f"  permitted by {item.permitted}", "$faint"))
    if item.printed.strip() and not item.ended:
        lines.append(_piped(item.printed.strip("\n"), _ALL if open else _FEW, "$muted", last=True))
    lines += _result(item, open)
    return lines


def _result(item: Work, open: bool) -> list[Content]:
    text = item.result.strip("\n")
    if not item.ended or not text.strip():
        return []
    if open:
        return [] if item.diff and item.state is Outcome.DONE else [_piped(text, _ALL, "$muted")]
    if item.state is not Outcome.DONE:
        return [_piped(text, _FEW, "$text-warning" if item.state is Outcome.REFUSED else "$text-error")]
    if item.diff or item.name in _QUIET:
        return []
    return [_piped(text, _FEW, "$muted", last=True)]


def _piped(text: str, most: int, style: str, *, last: bool = False, mark: str = "│") -> Content:
    """Lines behind a bar: at most so many, the first or the last of them, the rest counted."""
    lines = text.split("\n")
    left = len(lines) - most
    if left > 0:
        told = f"… {left} line{'s' if left > 1 else ''} more"
        lines = [told, *lines[-most:]] if last else [*lines[:most], told]
    bar = (f"  {mark} ", "$faint")
    return Content("\n").join(Content.assemble(bar, (line.replace("\t", "    "), style)) for line in lines)


def _indented(text: str) -> str:
    return "\n".join(f"  {line}" for line in text.split("\n"))


def _arrow(open: bool) -> str:
    return "▾" if open else "▸"


def look(item: Item, open: bool) -> Content:
    match item:
        case Said():
            return said(item, open)
        case Aside():
            return aside(item, open)
        case Thought():
            return thought(item, open)
        case Work():
            return work(item, open)
        case Notice():
            return notice(item, open)
    return Content("")
