"""The result event is what docs/result.md says."""

from __future__ import annotations

import re
from pathlib import Path

from deskagent.agent.report import Report

DOCUMENTED = Path(__file__).parents[2] / "docs" / "result.md"


def test_every_key_of_the_result_is_documented_and_no_other() -> None:
    table = DOCUMENTED.read_text("utf-8").split("A patch has")[0]
    keys = [
        key
        for row in re.findall(r"^\| (`.+?) \|", table, re.MULTILINE)
        for key in re.findall(r"`(\w+)`", row)
    ]
    assert set(keys) == Report("mend it").result().keys()
    assert len(keys) == len(set(keys))
