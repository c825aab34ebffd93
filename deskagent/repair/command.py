"""What a test command line really runs: which runner, which interpreter, with which arguments, where.

Found out by reading files alone: nothing of the project and none of its programs is started for it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

Runner = Literal["pytest", "unittest", "command"]


@dataclass(frozen=True)
class TestCommand:
    """A test command, taken apart.

    `line`         as the person gave it, or as it was detected;
    `argv`         what to start for the exact command, `argv[0]` an absolute path or a name on the given PATH;
    `runner`       "pytest" and "unittest" can be run by the warm worker; of "command" only the exit code speaks;
    `interpreter`  absolute path of the Python that runs the tests (a venv's own `bin/python`, links not
                   resolved), None where that can't be told;
    `args`         the runner's own arguments: what follows `pytest` or `python -m unittest`;
    `env`          variables the line itself sets (`FOO=1 pytest`);
    `cwd`          where it runs, relative to the project (`.` but for `cd sub && …`);
    `detected`     found in the project's files and not given by the person;
    `how`          in words, what was found and where.
    """

    __test__ = False
    line: str
    argv: tuple[str, ...]
    runner: Runner
    interpreter: Path | None = None
    args: tuple[str, ...] = ()
    env: Mapping[str, str] = field(default_factory=dict)
    cwd: Path = Path()
    detected: bool = False
    how: str = ""
