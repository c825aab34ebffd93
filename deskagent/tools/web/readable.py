"""What is to be read of an answer: HTML as Markdown, made by a process of its own in the sandbox; text as it is."""

from __future__ import annotations

import codecs
import json
import re
import sys
from dataclasses import dataclass, replace
from pathlib import Path

from deskagent.terminal import spawn
from deskagent.terminal.types import Command, End, Limits
from deskagent.tools import foreign
from deskagent.tools.base import Context, ToolError
from deskagent.tools.web import reading
from deskagent.tools.web.get import Answer

_HTML = ("text/html", "application/xhtml+xml")
_TEXT = re.compile(
    r"text/.*|application/(?:.*\+)?(?:json|xml|yaml)|application/(?:x-)?(?:ndjson|jsonl|json5|yaml|toml|javascript|"
    r"ecmascript|typescript|sh|sql|graphql|rtf|tex|latex|python|perl|ruby|markdown)|image/svg\+xml|message/.*"
)
_CHARSETS = re.compile(
    r"utf-?8(?:-sig)?|utf-?16(?:-?[lb]e)?|utf-?32(?:-?[lb]e)?|us-ascii|ascii|latin-?1|(?:iso-?8859|windows|cp|koi8|mac)"
    r"[\w-]*|gb2312|gbk|gb18030|big5(?:-?hkscs)?|euc[-_]?(?:jp|kr)|shift[-_]?jis|iso-2022-(?:jp|kr)|tis-620",
    re.IGNORECASE,
)
"""Encodings of text. Python has others under such names, of which one takes a page's length squared."""
_META = re.compile(rb"<meta[^>]{0,200}?charset\s*=\s*[\"']?\s*([\w:.-]{2,40})", re.IGNORECASE)
_BOMS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_MOST = 8 << 20


@dataclass(frozen=True, slots=True)
class Readable:
    """title: "" where there is none. html: whether it was made of a page."""

    title: str
    text: str
    html: bool = False


def readable(answer: Answer, context: Context) -> Readable:
    """Errors: ToolError for what is no text, or can't be made readable in time."""
    kind = answer.kind or _guessed(answer.body)
    html = kind in _HTML
    if not html and not _TEXT.fullmatch(kind):
        size = f"{len(answer.body)} bytes{' or more' if answer.cut else ''}"
        raise ToolError(
            f"{answer.address} is {foreign.name(kind) or 'of no known kind'}, {size}: fetch gives text alone."
        )
    text = _decoded(answer, html)
    if text.count("\0") > len(text) // 1000:
        raise ToolError(
            f"{answer.address} says that it is {kind}, and holds binary data. fetch gives text alone."
        )
    if not html:
        return Readable("", text.replace("\r\n", "\n").replace("\r", "\n"))
    return _made(text, context)


def _guessed(body: bytes) -> str:
    start = body[:2000].lstrip().lower()
    if start.startswith((b"<!doctype html", b"<html", b"<head", b"<body")):
        return "text/html"
    try:
        codecs.getincrementaldecoder("utf-8")().decode(body[:2000])
    except UnicodeDecodeError:
        return ""
    return "" if b"\0" in start else "text/plain"


def _decoded(answer: Answer, html: bool) -> str:
    named = next((name for bom, name in _BOMS if answer.body.startswith(bom)), "") or answer.charset
    if not named and html and (found := _META.search(answer.body[:4096])):
        named = found[1].decode("ascii", "replace")
    if not _CHARSETS.fullmatch(named):
        named = "utf-8"
    try:
        return answer.body.decode(named, "replace")
    except LookupError:
        return answer.body.decode("utf-8", "replace")


def _made(html: str, context: Context) -> Readable:
    script = Path(reading.__file__).read_text("utf-8")
    printed: list[bytes] = []
    result = spawn.run(
        Command((sys.executable, "-I", "-c", script), Path("/"), dict(context.env)),
        sandbox=context.sandbox,
        policy=replace(context.policy, writable=(), readable=(*context.policy.readable, *_packages())),
        limits=Limits(seconds=30.0, memory=2 << 30, processes=32, output=_MOST),
        stdin=html.encode("utf-8", "replace"),
        on_output=printed.append,
        cancel=context.cancel,
    )
    head, _, body = b"".join(printed)[:_MOST].partition(b"\n")
    if result.end is not End.EXITED or result.code or not head.startswith(b"{"):
        why = {
            End.TIMEOUT: "it takes too long",
            End.MEMORY: "it takes too much memory",
            End.CANCELLED: "cancelled",
        }
        raise ToolError(
            f"The page can't be made readable: {why.get(result.end, result.detail or result.end)}."
        )
    return Readable(json.loads(head)["title"], body.decode("utf-8", "replace"), html=True)


def _packages() -> tuple[Path, ...]:
    """Where what it may import lies, which a sandbox wouldn't show below /tmp."""
    return tuple(Path(entry) for entry in sys.path if entry.endswith(("site-packages", "dist-packages")))
