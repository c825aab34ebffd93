"""Which session a command goes on with, as its options -c, -r and --fork say."""

from __future__ import annotations

from deskagent.errors import UsageError


def named(latest: bool, session: str | None, fork: bool) -> str | None:
    """The session's id, "" for the latest of the folder, None for a new one. Errors: UsageError for options that don't
    go together."""
    if fork and not latest and session is None:
        raise UsageError("--fork goes on with a session as a new one.", hint="Name it: -c or -r [ID].")
    if latest and session:
        raise UsageError("-c goes on with the latest session, -r with the one named: give one of them.")
    return "" if latest else session
