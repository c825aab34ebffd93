import json
from pathlib import Path

import pytest

from deskagent.repair.report import parse
from deskagent.repair.types import Frame, Outcome

ROOT = Path("/p")

TAP = """TAP version 13
# Subtest: clamp low
not ok 1 - clamp low
  ---
  duration_ms: 15.07
  location: '/p/test/a.test.js:4:1'
  failureType: 'testCodeFailure'
  error: |-
    Expected values to be strictly equal:

    5 !== 0

  code: 'ERR_ASSERTION'
  stack: |-
    clamp (file:///p/src/a.js:2:7)
    TestContext.<anonymous> (file:///p/test/a.test.js:4:34)
    Test.run (node:internal/test_runner/test:796:25)
  ...
# Subtest: group
    # Subtest: fine
    ok 1 - fine
      ---
      duration_ms: 0.5
      ...
    # Subtest: later
    ok 2 - later # SKIP
      ---
      duration_ms: 0.1
      ...
    1..2
ok 2 - group
  ---
  type: 'suite'
  ...
1..2
# tests 3
# pass 1
# fail 1
"""
SPEC = """▶ group
  ✔ fine (0.3ms)
  ✖ breaks (1.2ms)
▶ group (2ms)

ℹ tests 2
ℹ pass 1
ℹ fail 1

✖ failing tests:

test at test/a.test.js:8:3
✖ breaks (1.2ms)
  TypeError: boom
      at fn (file:///p/src/a.js:8:14)
"""
JEST = """FAIL test/a.test.js
  group
    ✓ fine (2 ms)
    ✕ breaks (3 ms)

  ● group › breaks

    expect(received).toBe(expected)

      at fn (src/a.js:2:3)
      at Object.<anonymous> (test/a.test.js:5:10)

Test Suites: 1 failed, 1 total
Tests:       1 failed, 1 passed, 2 total
"""
VITEST = """ ❯ test/a.test.js (2 tests | 1 failed) 5ms
   ✓ group > fine 1ms
   × group > breaks 5ms
     → expected 1 to be 2

 FAIL  test/a.test.js > group > breaks
AssertionError: expected 1 to be 2
 ❯ fn src/a.js:2:3
 ❯ test/a.test.js:5:10

 Test Files  1 failed (1)
      Tests  1 failed | 1 passed (2)
"""
MOCHA = """
  group
    ✔ fine
    1) breaks

  1 passing (5ms)
  1 failing

  1) group
       breaks:

      AssertionError [ERR_ASSERTION]: 1 == 2
      + expected - actual
      at fn (src/a.js:2:3)
      at Context.<anonymous> (test/a.test.js:5:10)
"""
GO = """--- FAIL: TestClamp (0.00s)
    calc_test.go:7: Clamp(-1) = 5, want 0
--- FAIL: TestCases (0.00s)
    --- FAIL: TestCases/low (0.00s)
        calc_test.go:15: got 5, want 0
--- FAIL: TestBoom (0.00s)
panic: runtime error: index out of range [2] with length 2 [recovered]

goroutine 23 [running]:
testing.tRunner.func1.2({0x518be0, 0xc0000d0090})
\t/usr/lib/go/src/testing/testing.go:1396 +0x24e
m/calc.Boom(...)
\t/p/calc/calc.go:17
m/calc.TestBoom(0xc000097040?)
\t/p/calc/calc_test.go:28 +0x1b
created by testing.(*T).Run
\t/usr/lib/go/src/testing/testing.go:1493 +0x35f
FAIL\tm/calc\t0.006s
ok  \tm/other\t0.002s
FAIL
"""
GO_JSON = "\n".join(
    json.dumps(
        {"Time": "2026-01-01", "Action": "output", "Package": "m/calc", "Test": test, "Output": f"{line}\n"}
    )
    for test, line in (
        ("TestA", "=== RUN   TestA"),
        ("TestA", "    a_test.go:3: wrong"),
        ("TestA", "--- FAIL: TestA (0.25s)"),
        ("TestB", "=== RUN   TestB"),
        ("TestB", "--- PASS: TestB (0.00s)"),
        ("", "FAIL\tm/calc\t0.006s"),
    )
)
GO_BUILD = """# m/calc [m/calc.test]
calc/calc.go:26:9: syntax error: unexpected {, expecting )
FAIL\tm/calc [build failed]
FAIL
"""
CARGO = """running 2 tests
test tests::fine ... ok
test tests::breaks ... FAILED

failures:

---- tests::breaks stdout ----
thread 'tests::breaks' panicked at src/lib.rs:5:9:
boom

failures:
    tests::breaks

test result: FAILED. 1 passed; 1 failed; 0 ignored
"""


def outcomes(text):
    return {r.id: r.outcome for r in parse(text, ROOT).results}


def test_tap():
    printed = parse(TAP, ROOT)
    assert outcomes(TAP) == {
        "clamp low": Outcome.FAILED,
        "group > fine": Outcome.PASSED,
        "group > later": Outcome.SKIPPED,
    }
    (failed,) = printed.failing
    assert failed.frames == (Frame("test/a.test.js", 4, "<anonymous>"), Frame("src/a.js", 2, "clamp"))
    assert "5 !== 0" in failed.message
    assert (printed.passed, printed.failed) == (1, 1)


def test_equal_names_in_tap_are_told_apart():
    text = "TAP version 13\nok 1 - same\nnot ok 2 - same\n"
    assert outcomes(text) == {"same": Outcome.PASSED, "same (2)": Outcome.FAILED}


@pytest.mark.parametrize(
    ("text", "group"),
    [(SPEC, "group"), (JEST, "test/a.test.js > group"), (VITEST, "test/a.test.js > group"), (MOCHA, "group")],
)
def test_what_is_printed_for_people(text, group):
    assert outcomes(text) == {f"{group} > fine": Outcome.PASSED, f"{group} > breaks": Outcome.FAILED}
    (failed,) = parse(text, ROOT).failing
    assert any(frame.path == "src/a.js" for frame in failed.frames)
    assert parse(text, ROOT).passed == 1


def test_go():
    printed = parse(GO, ROOT)
    assert {r.id for r in printed.failing} == {"m/calc.TestClamp", "m/calc.TestCases/low", "m/calc.TestBoom"}
    boom = printed.failing[-1]
    assert boom.frames == (Frame("calc/calc_test.go", 28, "TestBoom"), Frame("calc/calc.go", 17, "Boom"))


def test_go_json():
    assert outcomes(GO_JSON) == {"m/calc.TestA": Outcome.FAILED, "m/calc.TestB": Outcome.PASSED}
    (failed,) = parse(GO_JSON, ROOT).failing
    assert (failed.seconds, failed.message) == (0.25, "a_test.go:3: wrong")


def test_a_go_test_that_hangs():
    lines = (
        *(
            "=== RUN   TestA",
            "--- PASS: TestA (0.00s)",
            "=== RUN   TestB",
            "panic: test timed out after 3s",
            "",
        ),
        *(
            "goroutine 5 [running]:",
            "testing.(*M).startAlarm.func1()",
            "\t/usr/lib/go/src/testing/testing.go:2036 +0x8e",
        ),
        *(
            "created by time.goFunc",
            "\t/usr/lib/go/src/time/sleep.go:176 +0x32",
            "",
            "goroutine 19 [runnable]:",
        ),
        *(
            "m.Count(...)",
            "\t/p/a.go:7",
            "m.TestB(0xc000096680?)",
            "\t/p/a_test.go:12 +0x1b",
            "FAIL\tm\t3.010s",
            "FAIL",
        ),
    )
    (failed,) = parse("\n".join(lines), ROOT).failing
    assert (failed.id, failed.outcome) == ("m.TestB", Outcome.TIMEOUT)
    assert failed.frames == (Frame("a_test.go", 12, "TestB"), Frame("a.go", 7, "Count"))


def test_a_go_package_that_does_not_build():
    (failed,) = parse(GO_BUILD, ROOT).failing
    assert (failed.id, failed.outcome) == ("m/calc", Outcome.ERROR)
    assert failed.frames == (Frame("calc/calc.go", 26, ""),)


def test_cargo():
    assert outcomes(CARGO) == {"tests::fine": Outcome.PASSED, "tests::breaks": Outcome.FAILED}
    assert parse(CARGO, ROOT).failing[0].frames == (Frame("src/lib.rs", 5, ""),)


@pytest.mark.parametrize(
    "text",
    ["", "TAP version 13\n", "not ok\n  ---\n", '{"Action": 3}\n', "ok  \n", "\0\x1b[31m", "FAIL\tx\n"],
)
def test_rubbish_is_no_result(text):
    assert not parse(text, ROOT).failing or text.startswith("FAIL")
