"""What is refused before anything runs."""

from __future__ import annotations

from collections.abc import Sequence

from engine.cache.pages import Memory
from engine.config import ModelConfig
from engine.errors import CapacityError, RequestError
from engine.generate.sequence import Request
from engine.generate.text import Vocabulary
from engine.model import TEXT_ALONE
from engine.vision.picture import Picture


def admit(
    request: Request, config: ModelConfig, memory: Memory, vocabulary: Vocabulary | None
) -> tuple[int, frozenset[int]]:
    """The most tokens that the answer may have, and the tokens that end it.

    Errors: RequestError for an empty or too long prompt, ids out of range, and what needs a tokenizer without one;
    CapacityError for more than the caches hold at best.
    """
    check_tokens(request.prompt, config, "prompt")
    _images(request, config)
    if request.stops.ordered and vocabulary is None:
        raise RequestError("stop strings need a tokenizer; give stop tokens instead")
    stop_tokens = frozenset(config.eos) if request.stop_tokens is None else request.stop_tokens
    for token in stop_tokens:
        if not 0 <= token < config.vocab:
            raise RequestError(f"stop token {token}: the model knows tokens 0 to {config.vocab - 1}")
    if request.thinking is not None:
        check_tokens(request.thinking.start_ids, config, "marker where thinking starts")
        check_tokens(request.thinking.end_ids, config, "marker where thinking ends")
    prompt = len(request.prompt)
    if prompt >= config.context:
        raise RequestError(
            f"a prompt of {prompt} tokens leaves no room in a context of {config.context}: shorten it"
        )
    # The last token of an answer is never computed, and one page may be a copy of a shared one.
    holds = (memory.pages - 1) * memory.page + 1
    room = min(config.context, holds) - prompt
    if request.max_tokens is None:
        wanted = max(room, 1)
    else:
        wanted = request.max_tokens
        if wanted < 1:
            raise RequestError(f"max_tokens is {wanted}, it has to be at least 1")
        if prompt + wanted > config.context:
            raise RequestError(
                f"{prompt} tokens of prompt and {wanted} of answer are more than the context of {config.context}"
            )
    if wanted > room:
        raise CapacityError(
            f"{prompt} tokens of prompt and {wanted} of answer need more than the {memory.pages} pages of"
            f" {memory.page} tokens that the caches have: give the engine more cache memory or ask for less"
        )
    return wanted, stop_tokens


def check_tokens(tokens: object, config: ModelConfig, what: str) -> None:
    """Errors: RequestError for no tokens, or ids that the model doesn't know."""
    ids = list(tokens)  # type: ignore[call-overload]
    if not ids:
        raise RequestError(f"the {what} is empty: give at least one token")
    for place, token in enumerate(ids):
        if isinstance(token, bool) or not isinstance(token, int):
            raise RequestError(f"{what}: token {place} is {token!r}, not a number")
        if not 0 <= token < config.vocab:
            raise RequestError(f"{what}: token {place} is {token}; the model knows 0 to {config.vocab - 1}")


def _images(request: Request, config: ModelConfig) -> None:
    last = 0
    shown: set[int] = set()
    for row, image in sorted(request.images, key=lambda pair: pair[0]):
        if isinstance(image, Picture):
            rows = image.tokens
            if config.vision is None:
                raise RequestError(TEXT_ALONE)
        elif image.ndim != 2 or image.shape[1] != config.hidden or not image.shape[0]:
            raise RequestError(
                f"image at {row}: embeddings of {tuple(image.shape)}, not [n, {config.hidden}]"
            )
        else:
            rows = image.shape[0]
        if row < last or row + rows > len(request.prompt):
            raise RequestError(f"image at {row}: its {rows} rows leave the prompt or overlap another image's")
        last = row + rows
        shown.update(range(row, last))
        if isinstance(image, Picture) and not _held(request.prompt[row:last], config):
            raise RequestError(
                f"image at {row}: the prompt needs {rows} placeholders ({config.placeholder}) there, one a token"
            )
    if config.vision is None or config.placeholder is None:
        return
    for place, token in enumerate(request.prompt):
        if token == config.placeholder and place not in shown:
            raise RequestError(f"prompt: token {place} is a placeholder, but no picture stands there")


def _held(tokens: Sequence[int], config: ModelConfig) -> bool:
    return config.placeholder is None or all(token == config.placeholder for token in tokens)
