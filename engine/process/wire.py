"""What goes over the socket: frames of a u32 length (little endian) and a MessagePack message. A connection is one
request: the asker sends one question and reads messages to the last; hanging up cancels."""

from __future__ import annotations

import socket
import struct
from typing import Any

import msgspec

from engine import errors
from engine.errors import EngineError

_LENGTH = struct.Struct("<I")
LARGEST = 1 << 30
"""Bytes of a message."""


class Generate(msgspec.Struct, tag="generate", frozen=True):
    """As `engine.generate.sequence.Request`. sampling: fields of Sampling. grammar: (kind, source). thinking:
    start ids, end ids, cap. images: (row, rows, fp32 values). pictures: (row, a file's bytes); `Measure` tells how many
    placeholders the prompt needs from that row on."""

    prompt: list[int]
    sampling: dict[str, int | float | None] = {}
    max_tokens: int | None = None
    stop_tokens: list[int] | None = None
    stops: list[str] = []
    grammar: tuple[str, str] | None = None
    thinking: tuple[list[int], list[int], int | None] | None = None
    images: list[tuple[int, int, bytes]] = []
    marks: list[int] = []
    cached: bool = True
    speculated: bool = True
    pictures: list[tuple[int, bytes]] = []


class Score(msgspec.Struct, tag="score", frozen=True):
    context: list[int]
    continuations: list[list[int]]
    cached: bool = True


class Propose(msgspec.Struct, tag="propose", frozen=True):
    """As `Engine.propose`."""

    context: list[int]
    excerpt: str
    stop: int
    width: int = 8
    most: int = 48
    power: float = 0.0
    cached: bool = True


class Embed(msgspec.Struct, tag="embed", frozen=True):
    texts: list[list[int]]


class Measure(msgspec.Struct, tag="measure", frozen=True):
    """How large pictures are. pictures: files' bytes."""

    pictures: list[bytes]


class Status(msgspec.Struct, tag="status", frozen=True):
    """How the process is doing; answered at once, with `State` alone."""


class Accepted(msgspec.Struct, tag="accepted", frozen=True):
    """The first answer to every question: it is being worked on, by the process `pid`."""

    pid: int


class Token(msgspec.Struct, tag="token", frozen=True):
    """As `Piece`. logprob: the token's own, and the best ones, or None."""

    token: int
    text: str
    logprob: tuple[float, list[tuple[int, float]]] | None


class End(msgspec.Struct, tag="end", frozen=True):
    """As `Finish`. usage: prompt, cached, answer, drafted, accepted."""

    reason: str
    text: str
    stop: str | None
    usage: tuple[int, int, int, int, int]


class Scores(msgspec.Struct, tag="scores", frozen=True):
    """Log-likelihoods of each continuation's tokens."""

    tokens: list[list[float]]


class Proposals(msgspec.Struct, tag="proposals", frozen=True):
    """As `Proposal`, the best first: text, log-likelihood, number of tokens."""

    found: list[tuple[str, float, int]]


class Vectors(msgspec.Struct, tag="vectors", frozen=True):
    """fp32 values, row after row."""

    rows: int
    width: int
    values: bytes


class Sizes(msgspec.Struct, tag="sizes", frozen=True):
    """Width and height in pixels, and tokens, of each picture."""

    sizes: list[tuple[int, int, int]]


class State(msgspec.Struct, tag="state", frozen=True):
    """checkpoint: what is served. ready: whether it is loaded. running, waiting: requests. memory: bytes that the
    process holds. experts: `engine.offload.kept.Counters` of layers whose experts aren't all resident; empty for none.
    """

    pid: int
    checkpoint: str
    ready: bool
    running: int
    waiting: int
    memory: int
    experts: dict[str, int]


class Failed(msgspec.Struct, tag="failed", frozen=True):
    """kind: the name of an error of `engine.errors`."""

    kind: str
    message: str

    def error(self) -> EngineError:
        kind = getattr(errors, self.kind, EngineError)
        known = isinstance(kind, type) and issubclass(kind, EngineError)
        return kind(self.message) if known else EngineError(self.message)


Question = Generate | Score | Propose | Embed | Measure | Status
Message = Accepted | Token | End | Scores | Proposals | Vectors | Sizes | State | Failed
_QUESTION = msgspec.msgpack.Decoder(Question)
_MESSAGE = msgspec.msgpack.Decoder(Message)
_ENCODER = msgspec.msgpack.Encoder()


def send(connection: socket.socket, message: Any) -> None:
    """Errors: OSError where nobody listens any more."""
    raw = _ENCODER.encode(message)
    connection.sendall(_LENGTH.pack(len(raw)) + raw)


def read_question(connection: socket.socket) -> Question | None:
    """None where the asker hung up. Errors: ValueError for what is none, OSError."""
    raw = _frame(connection)
    return None if raw is None else _QUESTION.decode(raw)


def read_message(connection: socket.socket) -> Message | None:
    """None where the process hung up. Errors: ValueError for what is none, OSError."""
    raw = _frame(connection)
    return None if raw is None else _MESSAGE.decode(raw)


def _frame(connection: socket.socket) -> bytes | None:
    head = _exactly(connection, _LENGTH.size)
    if head is None:
        return None
    (length,) = _LENGTH.unpack(head)
    if length > LARGEST:
        raise ValueError(f"a message of {length} bytes: at most {LARGEST}")
    return _exactly(connection, length)


def _exactly(connection: socket.socket, count: int) -> bytes | None:
    """None where the other side ended before."""
    parts = bytearray()
    while len(parts) < count:
        part = connection.recv(min(count - len(parts), 1 << 20))
        if not part:
            return None
        parts += part
    return bytes(parts)
