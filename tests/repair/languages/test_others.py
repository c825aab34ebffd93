import pytest

from deskagent.repair.languages import known
from deskagent.repair.localize import localize
from deskagent.repair.places import is_test
from deskagent.repair.types import Baseline, Frame, Outcome, TestResult

RUST = "pub fn area(w: u32, h: u32) -> u32 {\n    w + h\n}\n\npub fn edge(w: u32) -> u32 {\n    4 * w\n}\n"
PANIC = "thread 'tests::area' panicked at src/lib.rs:2:5:\nassertion failed"


def failing(message, frames=()):
    return Baseline((TestResult("tests::area", Outcome.FAILED, 0.0, message, frames),), {}, 1.0)


@pytest.fixture
def rust(tmp_path):
    (tmp_path / "src").mkdir()
    (tmp_path / "src/lib.rs").write_text(RUST)
    (tmp_path / "Cargo.toml").write_text("[package]\nname = 'x'\n")
    return tmp_path


def test_lines_in_the_output_are_shown(rust):
    suspects = localize(rust, failing(PANIC), request="area is wrong")
    assert [(s.path, s.line) for s in suspects] == [("src/lib.rs", 2), ("src/lib.rs", 1)]
    assert "output" in suspects[0].reasons[0]
    assert "request names" in suspects[1].reasons[0]


def test_frames_come_first(rust):
    frames = (Frame("src/lib.rs", 5, "edge"), Frame("src/lib.rs", 2, "area"))
    suspects = localize(rust, failing("boom", frames))
    assert [s.line for s in suspects][:2] == [2, 5]


def test_it_says_so(rust):
    suspects = localize(rust, failing(PANIC))
    assert "In Rust this only localises" in known.only_localised(rust, suspects)
    assert "In Rust this only localises" in known.only_localised(rust, ())


def test_it_says_nothing_where_something_is_edited(tmp_path):
    (tmp_path / "a.py").write_text("x = 1\n")
    (tmp_path / "b.c").write_text("int x;\n")
    assert known.only_localised(tmp_path, ()) == ""


def test_a_missing_grammar_is_said(tmp_path, monkeypatch):
    (tmp_path / "a.go").write_text("package a\n\nfunc Sum() {\n}\n")
    monkeypatch.setattr(known, "_tools", lambda name: None)
    suspects = localize(tmp_path, failing("a.go:3: wrong"))
    assert [(s.path, s.line) for s in suspects] == [("a.go", 3)]
    assert "The grammar of Go is not installed" in known.only_localised(tmp_path, suspects)


@pytest.mark.parametrize(
    "path",
    [
        "a_test.go",
        "src/a.test.js",
        "src/__tests__/a.ts",
        "a.spec.tsx",
        "test-a.mjs",
        "__mocks__/b.js",
        "testdata/x.go",
    ],
)
def test_tests_are_never_edited(path):
    assert is_test(path)


@pytest.mark.parametrize("path", ["latest.js", "src/contest.go", "attestation.ts", "protest/a.js"])
def test_sources_are_no_tests(path):
    assert not is_test(path)


def test_coverage_of_scripts_leads_to_the_line(tmp_path):
    pytest.importorskip("tree_sitter_javascript")
    (tmp_path / "a.js").write_text("export function f(a) {\n  if (a) {\n    return 1;\n  }\n  return 2;\n}\n")
    results = (TestResult("one", Outcome.FAILED), TestResult("two", Outcome.PASSED))
    lines = {"one": {"a.js": frozenset({1, 2, 5})}, "two": {"a.js": frozenset({1, 2, 3})}}
    suspects = localize(tmp_path, Baseline(results, lines, 1.0))
    assert (suspects[0].path, suspects[0].line) == ("a.js", 5)
