"""A source file as bytes and as text: finds its encoding, and puts edits in without touching another byte."""

from __future__ import annotations

import codecs
import io
import os
import re
import stat
import tokenize
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from deskagent.errors import DeskagentError
from deskagent.repair.types import Edit

MAX_BYTES = 4 << 20
"""Larger files are data or generated code; a repair doesn't read them."""

_BOMS = (  # the longer first: UTF-32-LE begins like UTF-16-LE
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_PYTHON = (".py", ".pyi", ".pyw")
_LINE_END = re.compile(r"\r\n|\n|\r")


class SourceError(DeskagentError):
    """A file that can't be read as source, or an edit that can't be written in its encoding."""


class NoSourceText(SourceError):
    """A file whose bytes are no text in the encoding that they must be in."""


@dataclass(frozen=True)
class SourceFile:
    """`raw` is the file, `text` its characters without the byte order mark. Line ends stay as they are."""

    path: str
    raw: bytes
    encoding: str
    bom: bytes
    text: str

    @classmethod
    def read(cls, project: Path, rel: str) -> SourceFile:
        """The file at `project/rel`. SourceError: outside the project, not a plain file, too large, unreadable,
        or not text."""
        try:
            root = Path(os.path.realpath(project))
            path = Path(os.path.realpath(root / rel))  # Path.resolve raises RuntimeError on a loop of links
            if not path.is_relative_to(root):
                raise SourceError(f"{rel} leads out of the project", hint="name a file inside it")
            # O_NONBLOCK: a FIFO put there must not hang us before we can look at what was opened.
            descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
            with open(descriptor, "rb") as stream:  # noqa: PTH123
                status = os.fstat(descriptor)
                if not stat.S_ISREG(status.st_mode):
                    raise SourceError(f"{rel} is not a plain file")
                if status.st_size > MAX_BYTES:
                    raise SourceError(f"{rel} has {status.st_size} bytes; source is read up to {MAX_BYTES}")
                raw = stream.read(MAX_BYTES + 1)
        except (OSError, ValueError) as error:
            raise SourceError(f"{rel} can't be read: {error}") from error
        return cls.from_bytes(rel, raw)

    @classmethod
    def from_bytes(cls, rel: str, raw: bytes) -> SourceFile:
        """`raw` as a source file. SourceError if its bytes don't survive decoding and encoding."""
        if len(raw) > MAX_BYTES:
            raise SourceError(f"{rel} has over {MAX_BYTES} bytes")
        if rel.endswith(_PYTHON):
            encoding, bom, text = _python_text(rel, raw)
        else:
            encoding, bom, text = _plain_text(rel, raw)
        if "\0" in text:
            raise NoSourceText(f"{rel} holds NUL characters: it is no source text")
        if bom + text.encode(encoding) != raw:
            raise NoSourceText(f"{rel} doesn't come back byte for byte from {encoding}: it is left alone")
        return cls(rel, raw, encoding, bom, text)

    @cached_property
    def utf8(self) -> bytes:
        """The text as UTF-8, without byte order mark: what a parser reads and what an Edit's offsets count."""
        return self.text.encode("utf-8")

    @cached_property
    def newline(self) -> str:
        """The line end used most in the file, a line feed if there is none."""
        counts = {"\r\n": self.text.count("\r\n")}
        counts["\n"] = self.text.count("\n") - counts["\r\n"]
        counts["\r"] = self.text.count("\r") - counts["\r\n"]
        best = max(counts, key=lambda end: counts[end])
        return best if counts[best] else "\n"

    def apply(self, edits: Iterable[Edit]) -> bytes:
        """The file's bytes with `edits` in it; every byte outside them as before.

        Line feeds in the new text become the line end used at that place. SourceError: edits overlap, cut a
        character, belong to another file, or hold a character that the encoding lacks.
        """
        pieces: list[bytes] = []
        changed: list[str] = []
        raw_at, byte_at = len(self.bom), 0
        for edit in self._ordered(edits):
            kept = self._slice(byte_at, edit.start)
            new = self._localised(edit)
            try:
                length = len(kept.encode(self.encoding))
                pieces += (self.raw[raw_at : raw_at + length], new.encode(self.encoding))
            except UnicodeEncodeError as error:
                raise SourceError(
                    f"{self.path} is {self.encoding}, which can't hold {error.object!r}"
                ) from error
            changed += (kept, new)
            raw_at += length + len(self._slice(edit.start, edit.end).encode(self.encoding))
            byte_at = edit.end
        pieces.append(self.raw[raw_at:])
        changed.append(self._slice(byte_at, len(self.utf8)))
        body = b"".join(pieces)
        try:
            exact = body.decode(self.encoding) == "".join(changed)
        except UnicodeDecodeError:
            exact = False
        if not exact:  # encodings with shift states can't be spliced
            raise SourceError(f"{self.path}: {self.encoding} can't be edited in place")
        return self.bom + body

    def edited(self, edits: Iterable[Edit]) -> bytes:
        """The UTF-8 text with `edits` in it: what `apply` writes, before encoding."""
        pieces: list[bytes] = []
        at = 0
        for edit in self._ordered(edits):
            pieces += (self.utf8[at : edit.start], self._localised(edit).encode("utf-8", "replace"))
            at = edit.end
        return b"".join((*pieces, self.utf8[at:]))

    def growth(self, edit: Edit) -> int:
        """By how many bytes `edit` makes the UTF-8 text longer."""
        return len(self._localised(edit).encode("utf-8", "replace")) - (edit.end - edit.start)

    def newline_at(self, offset: int) -> str:
        """The line end of the line that holds byte `offset` of the UTF-8 text, or its neighbour's."""
        for match in (_NEXT_END.search(self.utf8, offset), _last(self.utf8, offset)):
            if match is not None:
                return match.group().decode()
        return self.newline

    def _ordered(self, edits: Iterable[Edit]) -> list[Edit]:
        ordered = sorted(edits, key=lambda edit: (edit.start, edit.end))
        at = 0
        for edit in ordered:
            if edit.path != self.path:
                raise SourceError(f"an edit of {edit.path} was given to {self.path}")
            if not at <= edit.start <= edit.end <= len(self.utf8):
                raise SourceError(f"{self.path}: edits overlap or lie outside the file")
            at = edit.end
        return ordered

    def _slice(self, start: int, end: int) -> str:
        try:
            return self.utf8[start:end].decode("utf-8")
        except UnicodeDecodeError as error:
            raise SourceError(f"{self.path}: an edit cuts a character in two at byte {start}") from error

    def _localised(self, edit: Edit) -> str:
        if "\n" not in edit.new and "\r" not in edit.new:
            return edit.new
        return _LINE_END.sub(self.newline_at(edit.start), edit.new)


_NEXT_END = re.compile(rb"\r\n|\n|\r")


def _last(code: bytes, offset: int) -> re.Match[bytes] | None:
    """The last line end before `offset`."""
    at = max(code.rfind(b"\n", 0, offset), code.rfind(b"\r", 0, offset))
    if at > 0 and code[at - 1 : at + 1] == b"\r\n":
        at -= 1
    return _NEXT_END.match(code, at) if at >= 0 else None


def _python_text(rel: str, raw: bytes) -> tuple[str, bytes, str]:
    """Encoding by PEP 263: byte order mark, then the cookie, then UTF-8."""
    wide = next((encoding for bom, encoding in _BOMS if raw.startswith(bom)), "utf-8")
    if wide != "utf-8":
        raise NoSourceText(
            f"{rel} is {wide[:6].upper()} text, which Python doesn't read as source: save it as UTF-8"
        )
    if b"\0" in raw:
        raise NoSourceText(
            f"{rel} holds NUL bytes (is it UTF-16?), which Python doesn't read: save it as UTF-8"
        )
    try:
        encoding, _ = tokenize.detect_encoding(io.BytesIO(raw).readline)
        bom = codecs.BOM_UTF8 if raw.startswith(codecs.BOM_UTF8) else b""
        if encoding == "utf-8-sig":
            encoding = "utf-8"
        return encoding, bom, raw[len(bom) :].decode(encoding)
    except (SyntaxError, UnicodeDecodeError, LookupError) as error:
        raise NoSourceText(f"{rel} isn't in the encoding it states: {error}") from error


def _plain_text(rel: str, raw: bytes) -> tuple[str, bytes, str]:
    """Encoding by byte order mark, else UTF-8, else Windows-1252, else Latin-1."""
    for bom, encoding in _BOMS:
        if raw.startswith(bom):
            try:
                return encoding, bom, raw[len(bom) :].decode(encoding)
            except UnicodeDecodeError as error:
                raise NoSourceText(f"{rel} isn't the {encoding} its first bytes state: {error}") from error
    for encoding in ("utf-8", "cp1252"):
        try:
            return encoding, b"", raw.decode(encoding)
        except UnicodeDecodeError:
            continue
    return "latin-1", b"", raw.decode("latin-1")
