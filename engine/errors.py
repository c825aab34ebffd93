"""What the engine raises: every message says what was wrong, where, and what to do."""

from __future__ import annotations


class EngineError(Exception):
    """The root of the engine's errors."""


class ConfigError(EngineError):
    """A model configuration that makes no model."""


class CheckpointError(EngineError):
    """A checkpoint that is damaged, incomplete, hostile or not of this architecture."""


class LicenceError(EngineError):
    """A checkpoint under a licence of its own, which nobody said that they agreed to."""


class CapacityError(EngineError):
    """Less memory than the request needs; nothing was allocated."""


class RequestError(EngineError):
    """A request that can't be served as it is: too long, empty, unknown token ids."""


class LostError(EngineError):
    """The engine's process went away during a request; the next request starts it anew."""


class CancelledError(EngineError):
    """The request was cancelled by who asked."""
