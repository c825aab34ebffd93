import pytest

pytest.importorskip("tree_sitter_javascript")

# (old, new, operator) inside of `async function f(a, b, xs) {\n  <code>\n}`
EDITS = [
    ("return a < b;", "return a <= b;", "compare.boundary"),
    ("return a == b;", "return a === b;", "compare.strict"),
    ("return a === b;", "return a !== b;", "compare.negate"),
    ("return a || 3;", "return a ?? 3;", "logic.nullish"),
    ("return a && b;", "return a || b;", "condition.connective"),
    ("return a && b;", "return a;", "condition.drop"),
    ("if (a) return b;", "if (!a) return b;", "condition.negate"),
    ("return a ? b : xs;", "return a ? xs : b;", "condition.branches"),
    ("return a + b;", "return a - b;", "arithmetic.operator"),
    ("return a - b;", "return b - a;", "arithmetic.operands"),
    ("return a + b * 2;", "return (a + b) * 2;", "arithmetic.grouping"),
    ("a += b;", "a -= b;", "arithmetic.augmented"),
    ("a = b;", "a += b;", "arithmetic.augment"),
    ("return xs[a];", "return xs[a - 1];", "arithmetic.offset"),
    ("return 3;", "return 4;", "constant.integer"),
    ("return true;", "return false;", "constant.word"),
    ("return a;", "return b;", "name.variable"),
    ("return { a };", "return { a: b };", "name.variable"),
    ("xs.push(a);", "xs.unshift(a);", "member.swap"),
    ("return xs.pop();", "return xs.shift();", "member.swap"),
    ("return parseInt(a);", "return parseFloat(a);", "name.builtin"),
    ("return Math.min(a, b);", "return Math.max(a, b);", "member.swap"),
    ("return a.x.y;", "return a.x?.y;", "call.optional"),
    ("return g(a, b);", "return g(b, a);", "call.order"),
    ("return g(a, b);", "return g(a);", "call.fewer"),
    ("return g(a);", "return g(a, b);", "call.more"),
    ("return g(a);", "return a;", "call.unwrap"),
    ("return g(a);", "return await g(a);", "call.await"),
    ("return xs.sort();", "return xs.sort((a, b) => a - b);", "call.sorter"),
    ("return xs;", "return [...xs];", "call.copy"),
    ("g(a);", "return g(a);", "return.missing"),
    ("return xs.map((x) => { x + a; });", "return xs.map((x) => { return x + a; });", "return.missing"),
    ("for (const x in xs) g(x);", "for (const x of xs) g(x);", "call.range"),
    ("return a.replace(/b/, b);", "return a.replace(/b/g, b);", "string.pattern"),
    ("return xs.filter(a).map(b);", "return xs.map(b).filter(a);", "call.order"),
    ("let i = 0;", "let i = 1;", "constant.integer"),
]  # fmt: skip


@pytest.mark.parametrize(("old", "new", "operator"), EDITS, ids=[new for _, new, _ in EDITS])
def test_typed_edits(edits_of, old, new, operator):
    frame = "async function f(a, b, xs) {{\n  {}\n}}\n"
    found = edits_of("src/f.js", frame.format(old), 2)
    assert found.get(frame.format(new)) == operator


@pytest.mark.parametrize(
    ("name", "old", "new"),
    [
        ("typescript", "return a < b;", "return a <= b;"),
        ("typescript", "return a!.x;", "return b!.x;"),
        ("typescript", "const n: number = 0;", "const n: number = 1;"),
    ],
)
def test_typescript(edits_of, name, old, new):
    pytest.importorskip("tree_sitter_typescript")
    frame = "export function f(a: any, b: any): unknown {{\n  {}\n}}\n"
    assert frame.format(new) in edits_of("src/f.ts", frame.format(old), 2)


def test_types_are_left_alone(edits_of):
    pytest.importorskip("tree_sitter_typescript")
    found = edits_of("src/f.ts", "function f(a: 1 | 2): 3 {\n  return a;\n}\n", 1)
    assert all("f(a: 1 | 2" in text and ": 3 {" in text for text in found)


def test_guards_and_statements(edits_of):
    code = "function first(xs) {\n  let n = 0;\n  for (const x of xs) {\n    use(x);\n  }\n  return n;\n}\n"
    assert code.replace("    use(x);\n", "    use(x);\n    n++;\n") in edits_of("a.js", code, 4)
    assert code.replace("    use(x);\n", "") in edits_of("a.js", code, 4)
    assert code.replace("  let", "  if (!xs) return n;\n  let") not in edits_of("a.js", code, 1)
    guarded = edits_of("a.js", code, 2)
    assert any("if (xs.length === 0) return 0;" in text for text in guarded)


def test_both_statements_of_a_line(edits_of):
    code = "function f(a, b) {\n  if (a) return a;\n  return b;\n}\n"
    found = edits_of("a.js", code, 2)
    assert code.replace("return a;", "return b;", 1) in found
    assert code.replace("if (a)", "if (b)") in found


def test_a_name_that_is_not_there_yet_is_not_used(edits_of):
    code = "function f(a) {\n  const b = a;\n  const later = 2;\n  return b + later;\n}\n"
    assert not any("= later" in text for text in edits_of("a.js", code, 2))
    assert any("return a + later" in text for text in edits_of("a.js", code, 4))


def test_crlf_stays(edits_of):
    code = "function f(a, b) {\r\n  g(a);\r\n  return b;\r\n}\r\n"
    for text in edits_of("a.js", code, 2):
        assert text.count("\n") == text.count("\r\n")
