from __future__ import annotations

import json

from hypothesis import given, settings
from hypothesis import strategies as st

from deskagent.repair.protocol import Job, Report
from deskagent.repair.types import Frame, Outcome

RESULT = {
    "e": "result",
    "id": "t",
    "outcome": "failed",
    "seconds": 0.5,
    "message": "m",
    "frames": [["a.py", 3, "f"]],
}


def test_a_report_adds_up_what_a_run_tells() -> None:
    report = Report()
    for message in (
        {"e": "start", "id": "t"},
        {"e": "cover", "id": "t", "files": {"a.py": [1, 2]}},
        {"e": "cover", "id": "t", "files": {"a.py": [2, 3]}},
        RESULT,
        {"e": "modules", "names": ["json"]},
        {"e": "end", "code": 1, "peak": 7},
    ):
        report.take(json.dumps(message).encode())
    assert report.results["t"].frames == (Frame("a.py", 3, "f"),)
    assert report.coverage == {"t": {"a.py": {1, 2, 3}}}
    assert (report.modules, report.exit, report.peak, report.ended, report.current) == (
        ("json",),
        1,
        7,
        True,
        "",
    )


def test_of_two_results_with_one_name_the_bad_one_counts() -> None:
    for order in (("failed", "passed"), ("passed", "failed")):
        report = Report()
        for outcome in order:
            report.take(json.dumps(RESULT | {"outcome": outcome}).encode())
        assert report.results["t"].outcome is Outcome.FAILED


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda v: st.lists(v) | st.dictionaries(st.text(), v),
)


@settings(deadline=None, max_examples=50)
@given(
    st.binary()
    | st.fixed_dictionaries(
        {"e": st.sampled_from(["start", "result", "cover", "modules", "end", "x"])},
        optional=dict.fromkeys([*RESULT.keys() - {"e"}, "files", "names", "code"], json_values),
    ).map(lambda message: json.dumps(message).encode())
)
def test_rubbish_from_the_project_s_code_breaks_nothing(line: bytes) -> None:
    report = Report()
    report.take(line)
    report.take(json.dumps(RESULT | {"id": "the next one"}).encode())
    assert report.results["the next one"].outcome is Outcome.FAILED


def test_a_job_is_one_line_whatever_the_ids() -> None:
    line = Job(ids=("a\n\udcff b",), slow={"\x00": 1.0}, first=True).line(3)
    assert line.count(b"\n") == 1 and line.endswith(b"\n")
    message = json.loads(line)
    assert (message["op"], message["n"], message["bytecode"], message["ids"]) == (
        "run",
        3,
        True,
        ["a\n\udcff b"],
    )
