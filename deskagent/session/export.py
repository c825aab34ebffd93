"""A session as Markdown or JSON, without its secrets, and with nothing in it that a viewer would act on."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from typing import Any

from deskagent.session.journal import Journal
from deskagent.session.record import decode_payload
from deskagent.session.redact import redact, secret_values
from deskagent.session.render import entry
from deskagent.session.segment import FORMAT
from deskagent.terminal.text import printable

_BACKTICKS = re.compile("`+")


def export(journal: Journal, kind: str) -> Iterator[str]:
    """The session as text, in pieces; `kind` is a key of `FORMATS`."""
    return FORMATS[kind](journal)


def _events(journal: Journal) -> Iterator[tuple[int, dict[str, Any]]]:
    values = secret_values()
    for record in journal.read():
        yield record.seq, redact(decode_payload(record.payload), values)


def _markdown(journal: Journal) -> Iterator[str]:
    yield f"# Session {printable(journal.id, newlines=False)}\n"
    for seq, payload in _events(journal):
        shown = entry(seq, payload)
        yield f"\n## {seq} · {_words(shown.title)}{f' · {shown.when}' if shown.when else ''}\n\n"
        for name, text in shown.facts:
            yield f"- {_words(name)}: {_code(text)}\n"
        for name, text in shown.blocks:
            yield f"\n{_words(name)}:\n\n{_fence(text)}\n"
    for warning in journal.warnings:
        yield f"\n- warning: {_code(warning.text)}\n"


def _json(journal: Journal) -> Iterator[str]:
    # ASCII throughout: inert on a terminal, and lone surrogates keep their own escapes.
    yield f'{{"session": {json.dumps(journal.id)}, "format": {json.dumps(FORMAT)}, "events": ['
    separator = "\n"
    for seq, payload in _events(journal):
        yield separator + json.dumps({"seq": seq, **payload})
        separator = ",\n"
    yield f'\n], "warnings": {json.dumps([warning.text for warning in journal.warnings])}}}\n'


FORMATS: dict[str, Callable[[Journal], Iterator[str]]] = {"md": _markdown, "json": _json}
"""The formats of an export by name."""


def _words(text: str) -> str:
    """A name from the file as plain words: what Markdown could read as markup is left out."""
    return re.sub(r"[^\w .-]", "", printable(text, newlines=False)).replace("_", " ")


def _code(text: str) -> str:
    """A code span, in which Markdown means nothing."""
    shown = printable(text, newlines=False)
    ticks = "`" * (1 + max((len(run) for run in _BACKTICKS.findall(shown)), default=0))
    pad = " " if shown[:1] in "` " or shown[-1:] in "` " else ""
    return f"{ticks}{pad}{shown}{pad}{ticks}"


def _fence(text: str) -> str:
    """A fenced block, longer than any fence in it."""
    shown = printable(text)
    ticks = "`" * max(3, 1 + max((len(run) for run in _BACKTICKS.findall(shown)), default=0))
    return f"{ticks}text\n{shown}\n{ticks}"
