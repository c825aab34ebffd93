"""One model in llama.cpp: prompts evaluated where nothing of them is known yet, tokens drawn one at a time.

It is called from the worker's process alone. llama-cpp-python is an extra that few have, so it is looked up by name.
"""

from __future__ import annotations

import codecs
import ctypes
import importlib
import os
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from deskagent.providers.gguf.states import States
from deskagent.providers.gguf.steer import Turn
from deskagent.providers.gguf.template import Rendered, Template

_FIRST_CHUNK, _LARGEST_CHUNK = 32, 512
_CHUNK_SECONDS = 5.0
"""A chunk of a prompt takes about this long at most, so that a cancel and a sign of life come in time."""
_CONTROL = 8 | 16
"""llama.cpp's token attributes CONTROL and USER_DEFINED."""


class TooLong(Exception):
    """A prompt that the context doesn't hold. asked, room: in tokens."""

    def __init__(self, asked: int, room: int) -> None:
        super().__init__(f"requested tokens ({asked}) exceed context window of {room}")


class Stopped(Exception):
    """The request was cancelled."""


class Model:
    """path: of the GGUF. context: tokens wanted, 0 for what it was trained with. states: where the states of beginnings
    outlive the process. Errors: whatever llama-cpp-python raises for a file that it can't load."""

    def __init__(
        self, path: Path, context: int, *, threads: int = 0, layers: int = 0, states: States | None = None
    ) -> None:
        self.lib: Any = importlib.import_module("llama_cpp")
        threads = threads or len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else threads
        self.llama: Any = self.lib.Llama(
            str(path),
            n_ctx=context,
            n_batch=_LARGEST_CHUNK,
            n_threads=threads or None,
            n_threads_batch=threads or None,
            n_gpu_layers=layers,
            verbose=False,
        )
        self._vocab = self.lib.llama_model_get_vocab(self.llama.model)
        self._states = states
        self._chunk = _FIRST_CHUNK
        self._stopping: Callable[[], bool] = lambda: False
        self._abort = self.lib.ggml_abort_callback(lambda _: self._stopping())
        self.lib.llama_set_abort_callback(self.llama.ctx, self._abort, None)
        self.template = self._template()

    @property
    def context(self) -> int:
        return self.llama.n_ctx()

    def tokens(self, rendered: Rendered) -> list[int]:
        """Of a prompt's pieces: names of control tokens count only where they may."""
        found: list[int] = []
        for text, special in rendered:
            found += self.llama.tokenize(text.encode("utf-8", "replace"), add_bos=False, special=special)
        bos = self.llama.token_bos()
        if self.lib.llama_vocab_get_add_bos(self._vocab) and found[:1] != [bos]:
            found.insert(0, bos)
        return found

    def read(
        self,
        tokens: Sequence[int],
        head: int,
        stopping: Callable[[], bool],
        tell: Callable[[int], None],
    ) -> int:
        """Evaluates a prompt, and gives how many of its tokens were known. head: so many of them stay the same in other
        conversations, and are kept on disk. tell: gets how many are done. Errors: TooLong, Stopped."""
        if len(tokens) >= self.context:
            raise TooLong(len(tokens), self.context)
        self._stopping = stopping
        known = self._keep(tokens)
        if self._states is not None and known < head and (loaded := self._states.load(self, tokens[:head])):
            known = min(loaded, len(tokens) - 1)
            self._forget_after(known)
        cached = known
        if self._states is not None and known < head < len(tokens):
            self._evaluate(tokens[known:head], tell)
            self._states.save(self, tokens[:head])
            known = head
        self._evaluate(tokens[known:], tell)
        return cached

    def draw(
        self,
        most: int,
        steer: Callable[[str], Turn | None],
        first: Turn | None,
        temperature: float,
        stopping: Callable[[], bool],
    ) -> Iterator[str]:
        """An answer, a token's letters at a time (none for part of a letter). Its `return` is why it ended: `end` or
        `length`. Errors: Stopped."""
        self._stopping = stopping
        letters = codecs.getincrementaldecoder("utf-8")("replace")
        free = self._sampler("", temperature)
        held = None
        try:
            turn = first
            left = min(most, self.context - self.llama.n_tokens)
            while left > 0:
                if turn is not None:
                    if held is not None:
                        self.lib.llama_sampler_free(held)
                    held = self._sampler(turn.grammar, temperature) if turn.grammar else None
                    if turn.write:
                        written = self.tokens([(turn.write, True)])[:left]
                        left -= len(written)
                        yield turn.write
                        self._evaluate(written, lambda done: None)
                        turn = None
                        continue
                token = self.lib.llama_sampler_sample(held or free, self.llama.ctx, -1)
                if self.lib.llama_vocab_is_eog(self._vocab, token):
                    yield letters.decode(b"", True)
                    return "end"
                piece = letters.decode(self.llama.detokenize([token], special=True))
                yield piece
                turn = steer(piece) if piece else None
                left -= 1
                if left > 0:
                    self._evaluate([token], lambda done: None)
            yield letters.decode(b"", True)
            return "length"
        finally:
            for sampler in filter(None, (free, held)):
                self.lib.llama_sampler_free(sampler)

    def grammar(self, schema: str) -> str:
        """Of a JSON schema's text. Errors: what the converter raises."""
        return importlib.import_module("llama_cpp.llama_grammar").json_schema_to_gbnf(schema)

    def restored(self, tokens: Sequence[int]) -> None:
        """The memory now holds the state after `tokens`."""
        self.llama.input_ids[: len(tokens)] = tokens
        self.llama.n_tokens = len(tokens)

    def _keep(self, tokens: Sequence[int]) -> int:
        """How many of `tokens` the memory holds already; at least one is left, for its logits."""
        past = self.llama.input_ids[: self.llama.n_tokens].tolist()
        same = next((at for at, (a, b) in enumerate(zip(past, tokens, strict=False)) if a != b), None)
        known = min(len(past), len(tokens)) if same is None else same
        return self._forget_after(min(known, len(tokens) - 1))

    def _forget_after(self, known: int) -> int:
        """Models with a state instead of a memory of tokens can't go back: they begin anew."""
        memory = self.lib.llama_get_memory(self.llama.ctx)
        if known < self.llama.n_tokens and not self.lib.llama_memory_seq_rm(memory, 0, known, -1):
            known = 0
        if known == 0:
            self.lib.llama_memory_clear(memory, True)
        self.llama.n_tokens = known
        return known

    def _evaluate(self, tokens: Sequence[int], tell: Callable[[int], None]) -> None:
        at = 0
        while at < len(tokens):
            if self._stopping():
                raise Stopped
            part, began = list(tokens[at : at + self._chunk]), time.monotonic()
            try:
                self.llama.eval(part)
            except RuntimeError:
                if self._stopping():
                    raise Stopped from None
                raise
            at += len(part)
            tell(len(part))
            if len(part) == self._chunk:
                slow = time.monotonic() - began > _CHUNK_SECONDS / 2
                grown = self._chunk // 2 if slow else self._chunk * 2
                self._chunk = max(8, min(_LARGEST_CHUNK, grown))

    def _sampler(self, grammar: str, temperature: float) -> Any:
        lib = self.lib
        chain = lib.llama_sampler_chain_init(lib.llama_sampler_chain_default_params())
        if grammar:
            made = lib.llama_sampler_init_grammar(self._vocab, grammar.encode(), b"root")
            if made:
                lib.llama_sampler_chain_add(chain, made)
        if temperature <= 0:
            lib.llama_sampler_chain_add(chain, lib.llama_sampler_init_greedy())
            return chain
        for made in (
            lib.llama_sampler_init_top_k(40),
            lib.llama_sampler_init_top_p(0.95, 1),
            lib.llama_sampler_init_min_p(0.05, 1),
            lib.llama_sampler_init_temp(temperature),
            lib.llama_sampler_init_dist(int.from_bytes(os.urandom(4), "little")),
        ):
            lib.llama_sampler_chain_add(chain, made)
        return chain

    def _template(self) -> Template:
        text = self.llama.metadata.get("tokenizer.chat_template", "")
        if not text:
            return Template(None, "", self._controls())
        formats = importlib.import_module("llama_cpp.llama_chat_format")

        def word(token: int) -> str:
            return (
                self.llama.detokenize([token], special=True).decode("utf-8", "replace") if token >= 0 else ""
            )

        made = formats.Jinja2ChatFormatter(
            template=text, eos_token=word(self.llama.token_eos()), bos_token=word(self.llama.token_bos())
        )
        return Template(lambda **given: made(**given).prompt, text, self._controls())

    def _controls(self) -> Iterable[str]:
        get, text = self.lib.llama_vocab_get_attr, self.lib.llama_vocab_get_text
        found = (t for t in range(self.llama.n_vocab()) if get(self._vocab, t) & _CONTROL)
        return {(text(self._vocab, token) or b"").decode("utf-8", "replace") for token in found}


def state_call(name: str, model: Model, path: Path, tokens: Sequence[int]) -> int:
    """llama.cpp's saving or loading of the first sequence's state, with the tokens it stands for: bytes, 0 where it
    fails."""
    array = (model.lib.llama_token * len(tokens))(*tokens)
    place = os.fsencode(path)
    if name == "save":
        return model.lib.llama_state_seq_save_file(model.llama.ctx, place, 0, array, len(tokens))
    count = ctypes.c_size_t()
    done = model.lib.llama_state_seq_load_file(
        model.llama.ctx, place, 0, array, len(tokens), ctypes.byref(count)
    )
    return done if list(array[: count.value]) == list(tokens) else 0
