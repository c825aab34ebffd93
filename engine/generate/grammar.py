"""Answers under a grammar: JSON schema, regular expression or Lark, by llguidance where it is installed."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from engine.errors import EngineError, RequestError
from engine.generate.text import Vocabulary

if TYPE_CHECKING:
    from llguidance import LLMatcher, LLTokenizer

KINDS = ("json_schema", "regex", "lark")
_MARKER = b"\xff"
"""How llguidance is told of tokens that are no text."""


class Grammars:
    """Compiles grammars for one vocabulary of `size` tokens. Building it reads the whole vocabulary: keep it."""

    def __init__(self, vocabulary: Vocabulary, size: int, eos: int) -> None:
        """Raises RequestError where llguidance is missing."""
        try:
            from llguidance import LLMatcher, LLTokenizer
        except ImportError as error:
            raise RequestError("grammars need llguidance: pip install llguidance") from error
        self._matcher: type[LLMatcher] = LLMatcher
        self._tokenizer: LLTokenizer = LLTokenizer(_Words(vocabulary, size, eos), n_vocab=size)  # type: ignore[arg-type]

    def compile(self, kind: str, source: str | dict[str, Any]) -> Grammar:
        """kind: json_schema (source: the schema as text or data), regex or lark. JSON comes without blanks between
        its tokens. Errors: RequestError for what is no grammar, with llguidance's words."""
        if kind not in KINDS:
            raise RequestError(f"unknown kind of grammar {kind!r}; known are {', '.join(KINDS)}")
        matcher = self._matcher
        try:
            if kind == "json_schema":
                schema = source if isinstance(source, str) else json.dumps(source)
                text = matcher.grammar_from_json_schema(schema, overrides={"whitespace_flexible": False})
            elif kind == "regex":
                text = matcher.grammar_from_regex(str(source))
            else:
                text = matcher.grammar_from_lark(str(source))
        except ValueError as error:
            raise RequestError(f"the {kind} is no grammar: {error}") from error
        wrong, messages = matcher.validate_grammar_with_warnings(text, self._tokenizer)
        if wrong:
            raise RequestError(f"the {kind} is no grammar: {messages[0]}")
        return Grammar(self._matcher(self._tokenizer, text))


class Grammar:
    """A compiled grammar, for any number of answers."""

    def __init__(self, matcher: LLMatcher) -> None:
        self._fresh = matcher

    def start(self) -> Constraint:
        return Constraint(self._fresh.deep_copy())


class Constraint:
    """Follows one answer and says what may come next."""

    def __init__(self, matcher: LLMatcher) -> None:
        self._matcher = matcher

    @property
    def ended(self) -> bool:
        """Whether the answer is complete and nothing can be added to it."""
        return self._matcher.is_stopped()

    def allowed(self, size: int) -> NDArray[np.bool_]:
        """[size] bool: the tokens that may come next. Errors: EngineError where the grammar has broken down."""
        bits = np.frombuffer(self._matcher.compute_bitmask(), np.uint8)
        self._check()
        mask = np.zeros(size, np.bool_)
        known = np.unpackbits(bits, count=min(size, 8 * len(bits)), bitorder="little")
        mask[: len(known)] = known
        return mask

    def feed(self, token: int) -> None:
        """The answer's next token. Errors: EngineError for one that wasn't allowed."""
        self._matcher.consume_token(token)
        self._check()

    def _check(self) -> None:
        if self._matcher.is_error():
            raise EngineError(f"the grammar broke down: {self._matcher.get_error()}")


class _Words:
    """A vocabulary in the shape that llguidance reads."""

    is_tokenizer_wrapper = True
    bos_token_id = None

    def __init__(self, vocabulary: Vocabulary, size: int, eos: int) -> None:
        words = [vocabulary.token_bytes(token) for token in range(size)]
        self.eos_token_id = eos
        self.special_token_ids = [token for token, word in enumerate(words) if not word]
        self.tokens = [word or _MARKER + b"<%d>" % token for token, word in enumerate(words)]
        self._ids = {word: token for token, word in reversed(list(enumerate(words))) if len(word) == 1}

    def __call__(self, text: str | bytes) -> list[int]:
        """Any way of writing the text will do: grammars are followed byte by byte."""
        data = text.encode() if isinstance(text, str) else text
        return [self._ids[data[at : at + 1]] for at in range(len(data)) if data[at : at + 1] in self._ids]
