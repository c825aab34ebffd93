"""What is never learnt from, because something is measured on it: by the names of projects and of their copies."""

from __future__ import annotations

import re
from pathlib import PurePosixPath

BENCHMARKS = {
    "QuixBugs": {"quixbugs"},
    "BugsInPy": {
        "bugsinpy", "ansible", "black", "cookiecutter", "fastapi", "httpie", "keras", "luigi", "matplotlib", "pandas",
        "pysnooper", "sanic", "scrapy", "spacy", "thefuck", "tornado", "tqdm", "youtube-dl",
    },
    "aider's exercises": {"aider", "aider-chat", "exercism", "polyglot-benchmark"},
    "real bugs": {"boltons", "inflect", "more-itertools", "sqlparse"},
    "commits, reported": {
        "toolz", "cytoolz", "humanize", "tomli", "tomllib", "tomli-w", "itsdangerous", "xmltodict", "mistune",
        "markdown", "parsimonious", "dateutil", "python-dateutil",
    },
    "commits, to tune on": {
        "packaging", "tabulate", "click", "arrow", "glom", "marshmallow", "furl", "cachetools",
    },
}  # fmt: skip
"""What measures → names of its projects, normalised."""
NAMES = frozenset().union(*BENCHMARKS.values())
_COPIES = frozenset(
    {"vendor", "vendored", "extern", "third-party", "site-packages", "node-modules", "bundled"}
)


def normal(name: str) -> str:
    """A package's name as registries compare it; a module's alike."""
    return re.sub(r"[-_.]+", "-", name).strip("-").lower()


def excluded(name: str) -> str | None:
    """What a project is measured by, None where it may be learnt from."""
    wanted = normal(name)
    return next((what for what, names in BENCHMARKS.items() if wanted in names), None)


def copied(path: str) -> bool:
    """Whether a file belongs to another project that was copied into this one, or to an excluded one. path: POSIX,
    relative."""
    parts = PurePosixPath(path).parts
    folders = {normal(part) for part in (*parts[:-1], PurePosixPath(path).stem)}
    return bool(folders & (_COPIES | NAMES))
