"""Confines the processes that deskagent starts, as strongly as this machine can: docs/sandbox.md."""

from deskagent.terminal.sandbox.base import Sandbox, SandboxError, Unconfined, Wrapped
from deskagent.terminal.sandbox.probe import Report, RungReport, find_sandbox, no_sandbox, probe
from deskagent.terminal.sandbox.protect import commit_paths, git_folders, protected_paths

__all__ = [
    "Report",
    "RungReport",
    "Sandbox",
    "SandboxError",
    "Unconfined",
    "Wrapped",
    "commit_paths",
    "find_sandbox",
    "git_folders",
    "no_sandbox",
    "probe",
    "protected_paths",
]
