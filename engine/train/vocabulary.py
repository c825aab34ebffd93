"""The vocabulary of `mini`: a byte-level BPE in which a name is the same tokens wherever it stands.

Spaces go with keywords, with punctuation and with words that stand behind words, so that a name after `(`, ` = `, `, `
or `return ` is written without one, as it is in an edit. Runs of blanks are tokens of their own, so are line ends, the
signs and numbers that edits begin their lines with, and numbers up to 99. A word's
tokens with the space before it are 2 % more: 3.55 bytes each where these are 3.62.

python -m engine.train.vocabulary SHARDS OUT
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from random import Random

from engine.prompt.edits import Edit, write
from engine.prompt.render import TIERS, Marker, render
from engine.prompt.repair import Question, ask, numbered
from engine.tokenizer import Tokenizer, load

SIZE = 8192
BEGIN = "<|begin|>"
_USED = (
    BEGIN, Marker.END.value, Marker.OPEN.value, Marker.CLOSE.value, Marker.SEP.value, Marker.MEDIA_BEGIN.value,
    Marker.MEDIA_CONTENT.value, Marker.MEDIA_PAD.value, Marker.MEDIA_END.value,
)  # fmt: skip
MARKERS = (*_USED, *(f"<|spare_{n}|>" for n in range(16 - len(_USED))))
"""Ids 0 to 15. The first two are the model's `bos` and `eos`."""
_KEYWORDS = (
    "and as assert async await class def del elif else except for from if import in is lambda not or raise return"
    " while with yield"
)
PATTERN = "|".join(
    (
        r"(?<![^\n])[-+]",
        r"(?<=\d)\|",
        rf" ?(?:{'|'.join(_KEYWORDS.split())}) (?! )",
        r" ?[\p{L}\p{M}_]+",
        r"\p{N}{1,2}",
        r" ?[^\s\p{L}\p{M}\p{N}_]+(?: (?=\S))?",
        r"\n+",
        r" +",
        r"\s",
    )
)
_OPERATORS = (
    "+ - * / // % ** @ & | ^ ~ << >> < <= > >= == != = += -= *= /= //= %= **= &= |= ^= >>= <<= -> := ( ) [ ] { } () []"
    " {} . , : ; ' \" '' \"\" ): ]) )) and or not in is"
)
_HEADINGS = ("think", "response", "prefix", "suffix", "middle", 'file path="')
_OFTEN = 400
"""Times that the format's own words are shown: more than the rarest pair that is merged comes in the sample."""


def train(texts: Iterable[str], size: int = SIZE) -> str:
    """What tokenizer.json holds. size: ids in all, markers included; fewer where the texts have no more pairs."""
    from tokenizers import Regex, Tokenizer
    from tokenizers.decoders import ByteLevel as Bytes
    from tokenizers.models import BPE
    from tokenizers.pre_tokenizers import ByteLevel, Sequence, Split
    from tokenizers.trainers import BpeTrainer

    built = Tokenizer(BPE())
    letters = ByteLevel(add_prefix_space=False, use_regex=False)
    built.pre_tokenizer = Sequence([Split(Regex(PATTERN), "isolated"), letters])
    built.decoder = Bytes()
    trainer = BpeTrainer(
        vocab_size=size,
        special_tokens=list(MARKERS),
        initial_alphabet=ByteLevel.alphabet(),
        show_progress=False,
    )
    built.train_from_iterator(texts, trainer)
    return json.dumps(json.loads(built.to_str()), ensure_ascii=False, separators=(",", ":"))


def format_texts() -> Iterator[str]:
    """Numbers, operators, signs and headings as questions and answers write them: seldom in code, but to be single
    tokens."""
    lines = numbered("\n".join(["x"] * 99))
    edits = write([Edit(n, old, None) for n, old in enumerate(_OPERATORS.split(), 1)])
    asked = [
        part
        for tier in (None, *TIERS)
        for part in render(ask(Question("a.py", "x", "x", "x"), tier))
        if isinstance(part, str)
    ]
    for _ in range(_OFTEN):
        yield from (lines, edits, edits.replace("\n-", "\n+"), *asked, *_HEADINGS)


def sample(texts: list[str], letters: int, seed: int = 0) -> Iterator[str]:
    """Texts in a random order until they are that many letters."""
    for text in Random(seed).sample(texts, len(texts)):
        if letters <= 0:
            return
        letters -= len(text)
        yield text


def bytes_per_token(tokenizer: Tokenizer, texts: Iterable[str]) -> float:
    sizes = [(len(text.encode("utf-8")), len(tokenizer.encode(text))) for text in texts]
    return sum(size for size, _ in sizes) / max(sum(tokens for _, tokens in sizes), 1)


def main() -> int:
    from engine.train.shards import read

    parser = argparse.ArgumentParser(prog="engine.train.vocabulary", description="Train mini's vocabulary.")
    parser.add_argument("shards", type=Path, help="folder of the corpus")
    parser.add_argument("out", type=Path, help="folder that tokenizer.json is written to")
    parser.add_argument(
        "--letters", type=int, default=20_000_000, help="how much of the corpus to count pairs in"
    )
    given = parser.parse_args()
    texts = [document.text for document in read(given.shards, "train")]
    whole = train([*sample(texts, given.letters), *format_texts()])
    given.out.mkdir(parents=True, exist_ok=True)
    (given.out / "tokenizer.json").write_text(whole, "utf-8")
    tokenizer = load(given.out)
    print(f"{tokenizer.size} ids")
    held = read(given.shards, "held")
    for language in sorted({document.language for document in held}):
        texts = [document.text for document in held if document.language == language]
        print(f"{language}: {bytes_per_token(tokenizer, texts):.3f} bytes a token, held out")
    return 0


if __name__ == "__main__":
    sys.exit(main())
