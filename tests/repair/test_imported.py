from __future__ import annotations

from pathlib import Path

from deskagent.repair.localize import localize
from deskagent.repair.types import Baseline, Outcome, TestResult

FILES = {
    "consts.py": 'UNUSED = 5\nRATES = {"book": 7}\nCODE: str = "x"\n\n\ndef f():\n    RATES = 3\n',
    "far.py": "RATES = 1\n",
    "shop.py": "import consts\n\n\ndef tax(kind, net):\n    return net * consts.RATES[kind] + len(consts.CODE)\n",
    "tests/data.py": "RATES = 2\n",
}


def test_data_of_modules_that_no_test_enters_is_suspected(tmp_path: Path) -> None:
    for name, text in FILES.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    coverage = {"": {name: frozenset({1, 2}) for name in FILES}, "t": {"shop.py": frozenset({5})}}
    failing = TestResult("t", Outcome.FAILED, message="assert 1 == 2")
    found = localize(tmp_path, Baseline((failing,), coverage, 0.1))
    scores = {(s.path, s.line): s.score for s in found}
    assert found[0].path == "shop.py" and found[0].line == 5
    assert scores["shop.py", 5] > scores["consts.py", 2] == scores["consts.py", 3] > scores["far.py", 1] > 0
    assert {path for path, _ in scores} == {"shop.py", "consts.py", "far.py"} and (
        "consts.py",
        1,
    ) not in scores
    assert "RATES is read by suspicious code" in next(s for s in found if s.path == "consts.py").reasons
