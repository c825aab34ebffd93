"""The command line: one file a command, imported when it is called."""

from __future__ import annotations

import sys


def main() -> int:
    """Entry point of `deskagent`. `--version` answers before anything is imported."""
    if sys.argv[1:] in (["--version"], ["-V"]):
        from deskagent import __version__

        print(f"deskagent {__version__}")
        return 0
    from deskagent.cli.app import run

    return run(sys.argv[1:])
