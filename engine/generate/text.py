"""From token ids to text while they come: bytes put together to characters, ends at stop strings."""

from __future__ import annotations

import codecs
from typing import Protocol

from engine.generate.stop import Stops, StopStream


class Vocabulary(Protocol):
    """What generating needs of a tokenizer."""

    def token_bytes(self, token: int) -> bytes:
        """The bytes that a token stands for; none for a marker."""
        ...


class TextStream:
    """The text of an answer. A character whose bytes come in several tokens is given out with the last of them;
    bytes that are no UTF-8 become U+FFFD."""

    def __init__(self, vocabulary: Vocabulary | None, stops: Stops) -> None:
        self._vocabulary = vocabulary
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._stream = StopStream(stops)

    @property
    def found(self) -> str | None:
        """The stop string that ended the text."""
        return self._stream.found

    def feed(self, token: int) -> str:
        """What can be given out after this token; '' without a vocabulary."""
        if self._vocabulary is None:
            return ""
        return self._stream.feed(self._decoder.decode(self._vocabulary.token_bytes(token)))

    def rest(self) -> str:
        """What was held back, at an end without a stop string."""
        return self._stream.feed(self._decoder.decode(b"", final=True)) + self._stream.rest()
