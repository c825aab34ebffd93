"""Confines the processes that deskagent starts, as strongly as this machine can."""

from deskagent.terminal.sandbox.base import Sandbox, SandboxError, Unconfined, Wrapped

__all__ = ["Sandbox", "SandboxError", "Unconfined", "Wrapped"]
