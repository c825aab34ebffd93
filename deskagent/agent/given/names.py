"""What other agents call tools, so that files that were written for them are understood."""

from __future__ import annotations

ALSO: dict[str, tuple[str, ...]] = {
    "read": ("Read", "NotebookRead"),
    "edit": ("Edit", "MultiEdit"),
    "write": ("Write",),
    "glob": ("Glob", "LS"),
    "grep": ("Grep",),
    "terminal": ("Bash",),
    "job": ("BashOutput", "KillShell"),
    "todo": ("TodoWrite",),
    "ask": ("AskUserQuestion",),
    "agent": ("Task", "Agent"),
    "plan": ("ExitPlanMode",),
    "skill": ("Skill",),
    "fetch": ("WebFetch",),
}
"""Our name → others'."""
_OURS = {other: name for name, others in ALSO.items() for other in others}


def ours(name: str) -> str:
    """Our name of a tool that a file names; rules behind it, as in `Bash(git *)`, are dropped."""
    plain = name.partition("(")[0].strip()
    return _OURS.get(plain, plain)
