"""Text to token ids and back. No text becomes a marker: those are ids that only a prompt's builder sets."""

from __future__ import annotations

import codecs
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from types import MappingProxyType

from engine.errors import CheckpointError, RequestError


class Tokenizer:
    """One vocabulary, whatever file it came from.

    encode_text: ordinary text to ids. words: id → the bytes that it stands for. markers: name → id of those that no
    text becomes, and that stand for no text. shown: of those that no text becomes either, but whose name is written out
    where nobody reads them as markers: Kimi's files have those of tool calls so. size: ids are below it; not all need
    to be in use.
    """

    def __init__(
        self,
        encode_text: Callable[[str], list[int]],
        words: Mapping[int, bytes],
        markers: Mapping[str, int],
        shown: Mapping[str, int] = MappingProxyType({}),
    ) -> None:
        self._encode = encode_text
        self._words = {**words, **{token: name.encode() for name, token in shown.items()}}
        self.markers = dict(markers)
        self._named = {**shown, **markers}
        self._marker_ids = frozenset(self.markers.values())
        self.size = max((*self._words, *self._marker_ids), default=-1) + 1

    def encode(self, text: str) -> list[int]:
        """Ids of ordinary text, whatever it looks like. Half of a surrogate pair is written as U+FFFD."""
        if not text:
            return []
        return self._encode(text.encode("utf-16", "surrogatepass").decode("utf-16", "replace"))

    def token_bytes(self, token: int) -> bytes:
        """The bytes that a token stands for; none for a marker or an id that is not in use."""
        return b"" if token in self._marker_ids else self._words.get(token, b"")

    def decode(self, tokens: Iterable[int]) -> str:
        """The text of `tokens` without their markers; bytes that are no UTF-8 become U+FFFD."""
        return b"".join(map(self.token_bytes, tokens)).decode("utf-8", "replace")

    def marker(self, name: str) -> int:
        """Errors: RequestError where the vocabulary has no such marker."""
        found = self._named.get(name)
        if found is None:
            raise RequestError(
                f"the vocabulary has no marker {name}: the checkpoint is for another prompt format"
            )
        return found

    def has(self, name: str) -> bool:
        """Whether `marker` finds it."""
        return name in self._named

    def is_marker(self, token: int) -> bool:
        return token in self._marker_ids


class Characters:
    """Bytes to characters as they come: one whose bytes are not all there is held back."""

    def __init__(self) -> None:
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")

    def feed(self, raw: bytes) -> str:
        return self._decoder.decode(raw)

    def rest(self) -> str:
        """U+FFFD for a character that was cut off; ready for other bytes then."""
        left = self._decoder.decode(b"", final=True)
        self._decoder.reset()
        return left


def load(folder: Path) -> Tokenizer:
    """The tokenizer of a checkpoint: tokenizer.json, or a tiktoken vocabulary. Errors: CheckpointError for none, or one
    that is damaged or of another kind."""
    from engine.vocabulary import read_json_bpe, read_tiktoken

    if (folder / "tokenizer.json").exists():
        return read_json_bpe(folder)
    ranks = sorted(path.name for path in (*folder.glob("tiktoken.model"), *folder.glob("*.tiktoken")))
    if ranks:
        return read_tiktoken(folder, ranks[0])
    raise CheckpointError(f"{folder}: no tokenizer.json and no tiktoken vocabulary; fetch the missing file")
