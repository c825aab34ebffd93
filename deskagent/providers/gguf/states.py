"""States of a model after beginnings that many conversations share, kept on disk: on a processor the words about tools
alone take minutes to read. They can be thrown away at any time."""

from __future__ import annotations

import hashlib
import shutil
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from deskagent.providers.gguf.llama import Model

_LEAST = 256
"""Tokens that are worth it."""
_KEPT = 4
_ROOM = 4
"""So many times the size of what is kept there has to be free."""


class States:
    """folder: this person's alone. key: what tells the model and its settings from others."""

    def __init__(self, folder: Path, key: str) -> None:
        self._folder, self._key = folder, key

    def load(self, model: Model, tokens: Sequence[int]) -> int:
        """Puts the model where it was after `tokens`, and gives how many these are; 0 where none are kept, or what is
        kept is of no use. The model's memory is as good as empty then."""
        from deskagent.providers.gguf.llama import state_call

        file = self._file(tokens)
        if len(tokens) < _LEAST or not file.is_file():
            return 0
        if not state_call("load", model, file, tokens):
            file.unlink(missing_ok=True)
            model.restored([])
            return 0
        with suppress(OSError):
            file.touch()
        model.restored(tokens)
        return len(tokens)

    def save(self, model: Model, tokens: Sequence[int]) -> None:
        """Keeps the model's state, which is that after `tokens`. A full disk is no reason to fail."""
        from deskagent.providers.gguf.llama import state_call

        if len(tokens) < _LEAST:
            return
        file = self._file(tokens)
        part = file.with_suffix(".part")
        with suppress(OSError):
            self._folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            size = model.lib.llama_state_seq_get_size(model.llama.ctx, 0)
            if shutil.disk_usage(self._folder).free < _ROOM * size:
                return
            if state_call("save", model, part, tokens):
                part.replace(file)
            part.unlink(missing_ok=True)
            self._prune()

    def _file(self, tokens: Sequence[int]) -> Path:
        told = f"{self._key}\0{','.join(map(str, tokens))}"
        return self._folder / f"{hashlib.sha256(told.encode()).hexdigest()[:32]}.state"

    def _prune(self) -> None:
        files = sorted(self._folder.glob("*.state"), key=lambda file: file.stat().st_mtime, reverse=True)
        for file in files[_KEPT:]:
            file.unlink(missing_ok=True)
