"""Errors that a person sees: what was wrong, where, what to do, and the exit code that says which kind."""

from __future__ import annotations


class DeskagentError(Exception):
    """Base of every expected failure.

    `message` says what was wrong and where; `hint` says what to do about it.
    """

    exit_code = 1

    def __init__(self, message: str, *, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint

    def __str__(self) -> str:
        return f"{self.message}\n{self.hint}" if self.hint else self.message


class UsageError(DeskagentError):
    """A bad option or unfit surroundings: no such command, an untrusted folder, no sandbox."""

    exit_code = 2


class TransientError(DeskagentError):
    """Something passing: a held lock, a full disk, a busy model. The same call may succeed later."""

    exit_code = 75
