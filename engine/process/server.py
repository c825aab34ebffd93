"""The serving side: a thread a connection, the engine's own batching between them."""

from __future__ import annotations

import logging
import os
import select
import socket
import threading
from collections.abc import Callable
from contextlib import suppress
from dataclasses import asdict
from typing import Any

import torch

from engine.api import Engine, Picture
from engine.cache.disk import to_bytes
from engine.errors import CancelledError, EngineError, RequestError
from engine.generate.sample import Sampling
from engine.generate.sequence import Finish, Piece, Request
from engine.generate.stop import Stops
from engine.generate.thinking import Thinking
from engine.offload.needs import counted
from engine.process import wire
from engine.process.place import RuntimeFolder
from engine.weights.inspect import resident

_log = logging.getLogger(__name__)
_LOOK = 0.2
"""Seconds between looks at whether to end."""


class Server:
    """Serves until nobody has asked for `idle` seconds, or `stop` is called."""

    def __init__(
        self, place: RuntimeFolder, load: Callable[[], Engine], idle: float, checkpoint: str = ""
    ) -> None:
        """load: makes the engine; askers wait for it, and are told why if it fails. checkpoint: as its state tells."""
        self._place, self._load, self._idle, self._checkpoint = place, load, idle, checkpoint
        self._ready = threading.Event()
        self._stopping = threading.Event()
        self._engine: Engine | None = None
        self._failure: BaseException | None = None
        self._busy = 0
        self._count = threading.Lock()

    def run(self, listener: socket.socket) -> None:
        """listener: of `RuntimeFolder.listen`, whose lock the caller holds; it is closed at the end."""
        threading.Thread(target=self._prepare, daemon=True).start()
        quiet = 0.0
        try:
            while not self._stopping.is_set() and quiet < self._idle:
                if select.select([listener], [], [], min(_LOOK, self._idle))[0]:
                    connection, _ = listener.accept()
                    with self._count:
                        self._busy += 1
                    threading.Thread(target=self._serve, args=(connection,), daemon=True).start()
                quiet = 0.0 if self._busy or not self._ready.is_set() else quiet + min(_LOOK, self._idle)
                if self._failure is not None and not self._busy:
                    break
        finally:
            with suppress(FileNotFoundError):
                self._place.socket.unlink()
            listener.close()
            if self._engine is not None:
                self._engine.close()

    def stop(self) -> None:
        self._stopping.set()

    def _prepare(self) -> None:
        try:
            self._engine = self._load()
        except BaseException as error:  # told to everybody who asks, then the process ends
            _log.exception("the model could not be loaded")
            self._failure = error
        self._ready.set()

    def _serve(self, connection: socket.socket) -> None:
        try:
            with connection:
                question = wire.read_question(connection)
                if isinstance(question, wire.Status):
                    wire.send(connection, self._state())
                elif question is not None:
                    self._ready.wait()
                    self._reply(connection, question)
        except OSError:
            _log.debug("an asker hung up")
        except ValueError as error:
            _log.warning("no question: %s", error)
        finally:
            with self._count:
                self._busy -= 1

    def _state(self) -> wire.State:
        engine = self._engine
        if engine is None:
            return wire.State(os.getpid(), self._checkpoint, False, 0, 0, resident(), {})
        requests = len(engine.scheduler.running), len(engine.scheduler.waiting)
        experts = counted(engine.model)
        found = {} if experts is None else asdict(experts)
        return wire.State(os.getpid(), self._checkpoint, True, *requests, resident(), found)

    def _reply(self, connection: socket.socket, question: wire.Question) -> None:
        try:
            if self._failure is not None or self._engine is None:
                raise self._failure or EngineError("there is no model")
            wire.send(connection, wire.Accepted(os.getpid()))
            _ANSWERS[type(question)](self._engine, connection, question)
        except OSError:
            raise
        except Exception as error:
            if not isinstance(error, EngineError):
                _log.exception("a request failed")
            message = str(error) if isinstance(error, EngineError) else f"{type(error).__name__}: {error}"
            wire.send(connection, wire.Failed(type(error).__name__, message))


def _generate(engine: Engine, connection: socket.socket, asked: wire.Generate) -> None:
    answer = engine.generate(request_of(engine, asked))
    done = _when_hung_up(connection, answer.cancel)
    try:
        for event in answer:
            if isinstance(event, Piece):
                best = event.logprob and (event.logprob.token, list(event.logprob.best))
                wire.send(connection, wire.Token(event.token, event.text, best))
            elif event.error is not None:
                raise EngineError(event.error)
            else:
                wire.send(connection, _end(event))
    finally:
        done.set()
        answer.cancel()


def _end(finish: Finish) -> wire.End:
    usage = finish.usage
    counts = (usage.prompt, usage.cached, usage.answer, usage.drafted, usage.accepted)
    return wire.End(finish.reason, finish.text, finish.stop, counts)


def _score(engine: Engine, connection: socket.socket, asked: wire.Score) -> None:
    cancelled = threading.Event()
    done = _when_hung_up(connection, cancelled.set)
    try:
        scores = engine.score(asked.context, asked.continuations, cached=asked.cached, cancelled=cancelled)
        wire.send(connection, wire.Scores([list(score.tokens) for score in scores]))
    except CancelledError:
        return
    finally:
        done.set()


def _propose(engine: Engine, connection: socket.socket, asked: wire.Propose) -> None:
    cancelled = threading.Event()
    done = _when_hung_up(connection, cancelled.set)
    try:
        found = engine.propose(
            asked.context,
            asked.excerpt,
            asked.stop,
            width=asked.width,
            most=asked.most,
            power=asked.power,
            cached=asked.cached,
            cancelled=cancelled,
        )
        wire.send(connection, wire.Proposals([(one.text, one.loglik, len(one.tokens)) for one in found]))
    except CancelledError:
        return
    finally:
        done.set()


def _embed(engine: Engine, connection: socket.socket, asked: wire.Embed) -> None:
    cancelled = threading.Event()
    done = _when_hung_up(connection, cancelled.set)
    try:
        vectors = engine.embed(asked.texts, cancelled=cancelled)
        wire.send(connection, wire.Vectors(vectors.shape[0], vectors.shape[1], to_bytes(vectors)))
    except CancelledError:
        return
    finally:
        done.set()


def _measure(engine: Engine, connection: socket.socket, asked: wire.Measure) -> None:
    pictures = map(engine.picture, asked.pictures)
    wire.send(connection, wire.Sizes([(one.width, one.height, one.tokens) for one in pictures]))


_ANSWERS: dict[type, Callable[[Engine, socket.socket, Any], None]] = {
    wire.Generate: _generate,
    wire.Score: _score,
    wire.Propose: _propose,
    wire.Embed: _embed,
    wire.Measure: _measure,
}


def request_of(engine: Engine, asked: wire.Generate) -> Request:
    """Errors: RequestError."""
    try:
        sampling = Sampling(**asked.sampling)  # type: ignore[arg-type]
    except TypeError as error:
        raise RequestError(f"sampling: {error}") from error
    images: list[tuple[int, torch.Tensor | Picture]] = [
        (row, engine.picture(data)) for row, data in asked.pictures
    ]
    for row, rows, values in asked.images:
        if rows < 1 or len(values) % (4 * rows) or not values:
            raise RequestError(f"image at {row}: {len(values)} bytes aren't {rows} rows of fp32 values")
        images.append((row, torch.frombuffer(bytearray(values), dtype=torch.float32).reshape(rows, -1)))
    thinking = None
    if asked.thinking is not None:
        start, end, cap = asked.thinking
        thinking = Thinking(tuple(start), tuple(end), cap)
    return Request(
        asked.prompt,
        sampling,
        asked.max_tokens,
        None if asked.stop_tokens is None else frozenset(asked.stop_tokens),
        Stops(asked.stops),
        engine.grammar(*asked.grammar) if asked.grammar else None,
        thinking,
        tuple(images),
        asked.marks,
        asked.cached,
        asked.speculated,
    )


def _when_hung_up(connection: socket.socket, act: Callable[[], None]) -> threading.Event:
    """Calls `act` once if the asker goes away before the given event is set."""
    done = threading.Event()

    def watch() -> None:
        while not done.is_set():
            try:
                if select.select([connection], [], [], _LOOK)[0] and not connection.recv(1, socket.MSG_PEEK):
                    act()
                    return
                done.wait(_LOOK / 10)
            except (OSError, ValueError):  # closed on this side: the request is over
                return

    threading.Thread(target=watch, daemon=True).start()
    return done
