"""Confines the processes that deskagent starts, as strongly as this machine can."""

from deskagent.terminal.sandbox.base import Sandbox, SandboxError, Unconfined, Wrapped
from deskagent.terminal.sandbox.protect import commit_paths, git_folders, protected_paths

__all__ = [
    "Sandbox",
    "SandboxError",
    "Unconfined",
    "Wrapped",
    "commit_paths",
    "git_folders",
    "protected_paths",
]
