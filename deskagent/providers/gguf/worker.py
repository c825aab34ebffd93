"""`python -m deskagent.providers.gguf.worker FILE …`: a GGUF's process.

Lines of JSON each way. In: `{"do": "ask", "id", "messages", "tools", "choice", "most", "schema", "think",
"temperature"}`, and `{"do": "stop", "id"}` to end it. Out: `ready` once; for each ask `prompt` (what is read by now),
`text`, and at last `end` or `failed`. The process ends with its input.
"""

from __future__ import annotations

import argparse
import importlib
import json
import os
import queue
import sys
import threading
import traceback
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

from deskagent.providers.gguf.llama import Model, Stopped, TooLong
from deskagent.providers.gguf.states import States
from deskagent.providers.gguf.steer import ANY_OBJECT, Steer, Turn, grammars

Say = Callable[..., None]
_END_THINKING = "\n</think>\n\n"
_STACK = 256 << 20
"""Bytes of stack for native code: llama.cpp's parsers recurse over what they read."""


class Worker:
    """say: tells who asks."""

    def __init__(self, say: Say, vision: str = "") -> None:
        self._say, self._vision = say, vision
        self._asked: queue.SimpleQueue[dict[str, Any]] = queue.SimpleQueue()
        self._stopped: set[int] = set()
        self._heads: dict[str, int] = {}

    def listen(self, lines: Iterator[bytes]) -> None:
        """Takes questions until the input ends, then ends the process, whatever native code is doing."""
        for line in lines:
            with suppress(ValueError):
                given = json.loads(line)
                if given.get("do") == "stop":
                    self._stopped.add(given["id"])
                else:
                    self._asked.put(given)
        os._exit(0)

    def work(self, load: Callable[[], Model]) -> None:
        """Loads the model, then answers, one question after the other."""
        try:
            model = load()
        except Exception as error:
            traceback.print_exc()
            self._say(is_="failed", id=0, kind="load", message=f"{type(error).__name__}: {error}")
            return
        self._say(is_="ready", context=model.context, pid=os.getpid())
        while True:
            given = self._asked.get()
            number = given["id"]
            try:
                self._answer(model, given)
            except Stopped:
                self._say(is_="end", id=number, stop="stopped")
            except TooLong as error:
                self._say(is_="failed", id=number, kind="context", message=str(error))
            except Exception as error:
                traceback.print_exc()
                self._say(is_="failed", id=number, kind="broken", message=f"{type(error).__name__}: {error}")

    def _answer(self, model: Model, given: dict[str, Any]) -> None:
        number = given["id"]
        if self._vision and "image_url" in json.dumps(given["messages"]):
            self._seeing(model, given)
            return
        think = given["think"]
        more = {"enable_thinking": think is not None}
        rendered = model.template.render(given["messages"], given["tools"], **more)
        tokens = model.tokens(rendered)
        done = 0

        def tell(count: int) -> None:
            nonlocal done
            done += count
            self._say(is_="prompt", id=number, tokens=len(tokens), done=done)

        def stopping() -> bool:
            return number in self._stopped

        cached = model.read(tokens, self._head(model, given, tokens, more), stopping, tell)
        self._say(is_="prompt", id=number, tokens=len(tokens), cached=cached)
        follow = _Follow(_steer(model, given), think, opened=_opens(rendered))
        if follow.thinking:
            self._say(is_="text", id=number, text="<think>")
        most = given["most"] or model.context
        drawn = model.draw(most, follow.feed, follow.start(), given["temperature"], stopping)
        before = model.llama.n_tokens
        stop = self._told(drawn, number)
        self._say(
            is_="end",
            id=number,
            stop=stop,
            prompt=len(tokens),
            cached=cached,
            output=model.llama.n_tokens - before,
            thinking=follow.thought,
        )

    def _told(self, drawn: Iterator[str], number: int) -> str:
        while True:
            try:
                if piece := next(drawn):
                    self._say(is_="text", id=number, text=piece)
            except StopIteration as ended:
                return ended.value

    def _head(self, model: Model, given: dict[str, Any], tokens: list[int], more: dict[str, Any]) -> int:
        """How many tokens this prompt begins with like any other under the same system's message and tools."""
        told = [message for message in given["messages"][:1] if message["role"] == "system"]
        key = json.dumps([told, given["tools"], more])
        if key not in self._heads:
            other = [*told, {"role": "user", "content": "\N{BULLET}"}]
            with suppress(ValueError):
                probe = model.tokens(model.template.render(other, given["tools"], **more))
                same = (at for at, (a, b) in enumerate(zip(probe, tokens, strict=False)) if a != b)
                self._heads[key] = next(same, 0)
        return self._heads.get(key, 0)

    def _seeing(self, model: Model, given: dict[str, Any]) -> None:
        """An answer about pictures, by llama.cpp's own handler for the projector's kind."""
        number, usage, stop = given["id"], {}, "end"
        formats = importlib.import_module("llama_cpp.llama_chat_format")
        if model.llama.chat_handler is None:
            model.llama.chat_handler = formats.MTMDChatHandler(clip_model_path=self._vision, verbose=False)
        chunks = model.llama.create_chat_completion(
            messages=given["messages"],
            tools=given["tools"] or None,
            temperature=given["temperature"],
            max_tokens=given["most"],
            stream=True,
        )
        pieces = 0
        for chunk in chunks:
            if number in self._stopped:
                raise Stopped
            choice = chunk["choices"][0]
            if text := choice["delta"].get("content"):
                pieces += 1
                self._say(is_="text", id=number, text=text)
            stop = "length" if choice.get("finish_reason") == "length" else stop
            usage = chunk.get("usage") or usage
        prompt = usage.get("prompt_tokens", model.llama.n_tokens - pieces)
        self._say(is_="end", id=number, stop=stop, prompt=prompt, cached=0, output=pieces, thinking=0)


class _Follow:
    """What steers an answer: the cap on its thinking first, then its calls. thought: tokens of thinking."""

    def __init__(self, steer: Steer | None, cap: int | None, *, opened: bool) -> None:
        self._steer, self._cap = steer, cap
        self.thinking = opened
        self._text, self.thought = "", 0

    def start(self) -> Turn | None:
        return self._steer.start() if self._steer and not self.thinking else None

    def feed(self, piece: str) -> Turn | None:
        if not self.thinking and len(self._text) < 16:
            self._text += piece
            self.thinking = self._text.lstrip().startswith("<think>")
            if self.thinking:
                return None
        if not self.thinking:
            return self._steer.feed(piece) if self._steer else None
        self.thought += 1
        self._text = (self._text + piece)[-16:]
        over = self._cap is not None and self.thought >= self._cap
        if over or "</think>" in self._text:
            self.thinking, self._text = False, " " * 16
            return Turn(_END_THINKING if over else "", "")
        return None


def _steer(model: Model, given: dict[str, Any]) -> Steer | None:
    if given["schema"] is not None:
        try:
            held = model.grammar(json.dumps(given["schema"]))
        except Exception:  # the schema is more than the converter knows
            held = ANY_OBJECT
        return _Held(held)
    if not given["tools"] or given["choice"] == "none":
        return None
    held = grammars(given["tools"], model.grammar)
    return Steer(held, model.template.key, required=given["choice"] == "required")


class _Held(Steer):
    """An answer that is JSON of a schema, from its first letter."""

    def __init__(self, grammar: str) -> None:
        super().__init__({})
        self._grammar = grammar

    def start(self) -> Turn | None:
        return Turn("", self._grammar)


def _opens(rendered: list[tuple[str, bool]]) -> bool:
    """Whether the template begins the answer's thinking itself."""
    return bool(rendered) and rendered[-1][0].rstrip().endswith("<think>")


def _speaker() -> Say:
    """Tells on what was standard output; what native code prints goes to standard error from here."""
    out = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    lock = threading.Lock()

    def say(*, is_: str, **more: Any) -> None:
        line = json.dumps({"is": is_, **more}).encode() + b"\n"
        with lock:
            out.write(line)
            out.flush()

    return say


def main() -> None:
    parser = argparse.ArgumentParser(prog="deskagent.providers.gguf.worker", description=__doc__)
    parser.add_argument("file", type=Path)
    parser.add_argument("--context", type=int, default=0)
    parser.add_argument("--threads", type=int, default=0)
    parser.add_argument("--layers", type=int, default=0, help="layers on a GPU; -1 for all")
    parser.add_argument("--mmproj", default="")
    parser.add_argument("--states", type=Path, default=None, help="folder of kept states")
    options = parser.parse_args()
    with suppress(OSError):  # where memory runs out, it is this process that ends, not the session
        Path("/proc/self/oom_score_adj").write_text("800")
    say = _speaker()
    worker = Worker(say, options.mmproj)
    states = States(options.states, _key(options)) if options.states else None

    def load() -> Model:
        return Model(
            options.file, options.context, threads=options.threads, layers=options.layers, states=states
        )

    threading.stack_size(_STACK)
    threading.Thread(target=worker.work, args=(load,), daemon=True).start()
    worker.listen(iter(sys.stdin.buffer))


def _key(options: argparse.Namespace) -> str:
    try:
        found = options.file.stat()
        version = importlib.import_module("importlib.metadata").version("llama-cpp-python")
    except Exception:
        return ""
    told = [
        options.file.resolve(),
        found.st_size,
        found.st_mtime_ns,
        options.context,
        options.layers,
        version,
    ]
    return "\0".join(map(str, told))


if __name__ == "__main__":
    main()
