from __future__ import annotations

import subprocess
import sys
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deskagent.repo.languages import BY_NAME, LANGUAGES, language_of, missing, tools
from deskagent.repo.symbols import Symbols, Unparsable, extract

PYTHON = b"""\
X = 1
class A(Base):
    y: int = 3
    def f(self, a, *, b=2) -> int:
        self.z = os.path.join(a)
        def inner(q): return g(q)
        self.after = 1
        return inner(self.z)
    @prop
    async def h(self):
        await self.f(1)
def g(x): return A().f(x)
"""

SOURCES = {
    "javascript": (
        b"const f = (a) => { return g(a) }\nclass K extends B { m(x) { this.q = x; return f(x) } }\n"
        b"exports.foo = function (z) { new K() }\n",
        {("function", "f"), ("class", "K"), ("method", "K.m"), ("field", "K.q"), ("function", "foo")},
        {"g", "f", "K"},
    ),
    "typescript": (
        b"interface I { a: string; m(x: number): void }\nenum E { A }\ntype T = I\n"
        b"namespace N { export function q(): T { return go() } }\n",
        {
            ("interface", "I"),
            ("field", "I.a"),
            ("method", "I.m"),
            ("enum", "E"),
            ("type", "T"),
            ("module", "N"),
        }
        | {("function", "N.q")},
        {"go"},
    ),
    "tsx": (b"export const App = (p: P) => <div onClick={go}>{p.name}</div>\n", {("function", "App")}, set()),
    "go": (
        b"package p\nconst K = 1\ntype S struct { A int }\ntype I interface { M(x int) error }\n"
        b"func (s *S) M(x int) error { fmt.Println(x); return s.n(x) }\nfunc F[T any](x T) T { return x }\n",
        {("constant", "K"), ("struct", "S"), ("field", "S.A"), ("interface", "I"), ("method", "I.M")}
        | {("method", "S.M"), ("function", "F")},
        {"Println", "n"},
    ),
    "rust": (
        b"mod m { pub fn f<T>(x: T) -> T { x } }\nstruct S { a: i32 }\n"
        b'impl Tr for S { fn g(&self) { m::f(self.a); self.h(); println!("{}", 1) } }\n',
        {("module", "m"), ("function", "m.f"), ("struct", "S"), ("field", "S.a"), ("method", "S.g")},
        {"f", "h", "println"},
    ),
    "c": (
        b"#define M(x) x\ntypedef struct foo { int a; } foo_t;\nint *f(int (*cb)(int), int n) { return cb(g(n)); }\n",
        {("macro", "M"), ("type", "foo_t"), ("struct", "foo"), ("field", "foo.a"), ("function", "f")},
        {"cb", "g"},
    ),
    "cpp": (
        b"namespace a { class K : public B { public: K(); int m(int x) const { return g(x); } }; }\n"
        b"int a::K::f(int q) { return this->m(q) + std::max(1, q); }\n"
        b"K& operator+(const K& a, const K& b) { return a; }\n",
        {("module", "a"), ("class", "a.K"), ("method", "a.K.K"), ("method", "a.K.m"), ("function", "a.K.f")}
        | {("function", "operator+")},
        {"g", "m", "max"},
    ),
    "java": (
        b"public class A<T> extends B { private int f = 1; public A(int x) { new C<>(x); } int m() { return g(); } }\n",
        {("class", "A"), ("field", "A.f"), ("method", "A.A"), ("method", "A.m")},
        {"C", "g"},
    ),
}


def test_python_definitions_have_their_place_in_classes_and_functions() -> None:
    found = extract(PYTHON, BY_NAME["python"])
    assert [(d.kind, d.qualified, d.line, d.end_line) for d in found.definitions] == [
        ("variable", "X", 1, 1),
        ("class", "A", 2, 11),
        ("field", "A.y", 3, 3),
        ("method", "A.f", 4, 8),
        ("field", "A.z", 5, 5),
        ("function", "A.f.inner", 6, 6),
        ("field", "A.after", 7, 7),
        ("method", "A.h", 10, 11),
        ("function", "g", 12, 12),
    ]
    assert found.definitions[3].signature == "def f(self, a, *, b=2) -> int"


def test_calls_and_mentions_are_apart_and_definitions_are_neither() -> None:
    found = extract(PYTHON, BY_NAME["python"])
    assert {name: list(lines) for name, lines in found.calls.items()} == {
        "join": [5],
        "g": [6],
        "inner": [8],
        "f": [11, 12],
        "A": [12],
    }
    assert list(found.refs["z"]) == [8]
    assert "h" not in found.refs


@pytest.mark.parametrize("name", SOURCES)
def test_every_language_has_its_definitions_and_calls(name: str) -> None:
    if tools(BY_NAME[name]) is None:
        pytest.skip(f"{BY_NAME[name].wheel} isn't installed")
    source, definitions, calls = SOURCES[name]
    found = extract(source, BY_NAME[name])
    assert definitions <= {(d.kind, d.qualified) for d in found.definitions}
    assert set(found.calls) == calls


def test_a_header_is_cpp_where_it_looks_like_it() -> None:
    assert language_of("a/b.h", b"struct s { int a; };\n") == BY_NAME["c"]
    assert language_of("a/b.h", b"namespace n {\n}\n") == BY_NAME["cpp"]
    assert language_of("bin/tool", b"#!/usr/bin/env python3\n") == BY_NAME["python"]
    assert language_of("a/.py", b"") is None
    assert language_of("README", b"python\n") is None


def test_a_missing_wheel_leaves_its_language_out(monkeypatch: pytest.MonkeyPatch) -> None:
    from dataclasses import replace

    from deskagent.repo import languages

    gone = replace(BY_NAME["go"], module="tree_sitter_of_nowhere")
    monkeypatch.setitem(languages.BY_NAME, "go", gone)
    languages._tools.cache_clear()
    try:
        assert extract(b"package p\nfunc F() {}\n", gone) == Symbols()
        assert [language.name for language in missing()] == ["go"]
    finally:
        languages._tools.cache_clear()


def test_what_is_missing_is_found_without_loading_a_grammar() -> None:
    code = "import sys; from deskagent.repo import languages; languages.missing(); print(*sys.modules)"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "tree_sitter" not in run.stdout


@pytest.mark.parametrize(
    "token", [b"(", b"[", b"-", b"if ", b"a.", b"class A{", b"lambda:", b'"', b"def f(:\n"]
)
def test_hostile_repetition_ends_soon(token: bytes) -> None:
    for language in LANGUAGES:
        started = time.process_time()
        try:
            extract(token * (12_000 // len(token)), language)
        except Unparsable as error:
            assert str(error)
        assert time.process_time() - started < 10


def test_deep_nesting_doesnt_recurse() -> None:
    source = b"x = " + b"[" * 20_000 + b"]" * 20_000 + b"\ndef after(): pass\n"
    assert [d.name for d in extract(source, BY_NAME["python"]).definitions] == ["x", "after"]


@settings(max_examples=60, deadline=None)
@given(st.binary(max_size=400), st.sampled_from(LANGUAGES))
def test_any_bytes_give_lines_within_the_file(source: bytes, language) -> None:
    found = extract(source, language)
    lines = source.count(b"\n") + 1
    for definition in found.definitions:
        assert 1 <= definition.line <= definition.end_line <= lines
        assert definition.qualified.endswith(definition.name)
    assert all(1 <= line <= lines for where in found.calls.values() for line in where)
