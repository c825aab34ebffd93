"""How many known fixes are among the candidates of their place."""

from __future__ import annotations

import json

import pytest
from reach import main, measured

from engine.train.edits.kinds import kind_of_fix

BEFORE = "def f(a, b):\n    if a < 3:\n        return a\n    return b\n"


@pytest.mark.parametrize(
    ("old", "new", "kind"),
    [
        ("a < 3", "a <= 3", "comparison"),
        ("a < 3", "a < 3 and b", "condition: more terms"),
        ("return b", "return int(b)", "wrapped in a call"),
        ("    return b", "    if not b:\n        return a\n    return b", "put in: guard that leaves"),
        (
            "    return b",
            "    if not b:\n        raise ValueError(b)\n    return b",
            "put in: guard that raises",
        ),
        ("    return b", "    b = b or 3\n    return b", "put in: x = f(x)"),
        ("        return a\n", "        a += 1\n        return a\n", "put in: other"),
    ],
)
def test_kinds(old, new, kind):
    assert kind_of_fix(BEFORE, BEFORE.replace(old, new)) == kind


def test_a_fix_among_the_candidates_has_a_rank_whatever_its_layout():
    fix = {"path": "a.py", "before": BEFORE, "after": BEFORE.replace("a < 3:", "a  <=  3:  # three, too")}
    kind, total, rank, operator = measured(fix)
    assert (kind, operator) == ("comparison", "compare.boundary")
    assert 0 < rank <= 100 and total > 0


def test_a_fix_that_no_table_holds_has_none():
    fix = {"path": "a.py", "before": BEFORE, "after": BEFORE.replace("return b", "return quux.zork(17, b)")}
    assert measured(fix)[2] == 0


def test_counts(tmp_path, monkeypatch, capsys):
    rows = [
        {"repo": "r", "path": "a.py", "before": BEFORE, "after": BEFORE.replace("a < 3", new)}
        for new in ("a <= 3", "a < 3 and quux.zork(17, b)")
    ]
    file = tmp_path / "fixes.jsonl"
    file.write_text("\n".join(map(json.dumps, rows)))
    monkeypatch.setattr("sys.argv", ["reach.py", str(file)])
    assert main() == 0
    last = capsys.readouterr().out.splitlines()[-1].split()
    assert last[:4] == ["all", "2", "1", "1"]
