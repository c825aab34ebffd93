"""A private copy of the workspace in which tests run and candidates are tried."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from deskagent.terminal.types import Policy


@dataclass(frozen=True)
class Skipped:
    """Something that the copy lacks: project-relative path and the reason in words."""

    path: str
    why: str


class Scratch:
    """A private copy of a project; dirty, untracked and ignored files included. A context manager.

    `root`     where the copy really is;
    `seen_at`  where processes see it: the project's own path (bwrap), `root` itself (landlock, none);
    `policy`   ready for `spawn`;
    `env`      variables to add, so that editable installs resolve to the copy (landlock, none);
    `skipped`  what was not copied and why.
    """

    def __init__(
        self, root: Path, seen_at: Path, policy: Policy, env: Mapping[str, str], skipped: tuple[Skipped, ...]
    ) -> None:
        self.root = root
        self.seen_at = seen_at
        self.policy = policy
        self.env = dict(env)
        self.skipped = skipped

    def write(self, files: Mapping[str, bytes | None]) -> None:
        """Puts candidate contents in (None deletes), keyed by project-relative POSIX path."""
        for name, data in files.items():
            path = self.root / name
            if data is None:
                path.unlink(missing_ok=True)
            else:
                path.write_bytes(data)

    def __enter__(self) -> Self:
        return self
