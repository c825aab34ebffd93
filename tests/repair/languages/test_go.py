import pytest

pytest.importorskip("tree_sitter_go")

HEAD = "package p\n\nfunc f(a, b int, xs []int, err error) (int, error) {\n"
# (old, new, operator) as a statement of that function
EDITS = [
    ("return a, nil", "return b, nil", "name.variable"),
    ("if a < b {\n\t}", "if a <= b {\n\t}", "compare.boundary"),
    ("if a == b {\n\t}", "if a != b {\n\t}", "compare.negate"),
    ("if a > 1 && b > 1 {\n\t}", "if a > 1 || b > 1 {\n\t}", "condition.connective"),
    ("if a > 1 && b > 1 {\n\t}", "if b > 1 {\n\t}", "condition.drop"),
    ("a += b", "a -= b", "arithmetic.augmented"),
    ("a++", "a--", "arithmetic.augmented"),
    ("a = b", "a += b", "arithmetic.augment"),
    ("c := a + b*2", "c := (a + b) * 2", "arithmetic.grouping"),
    ("c := xs[a]", "c := xs[a-1]", "arithmetic.offset"),
    ("c := xs[a:]", "c := xs[a:b]", "index.end"),
    ("c := xs[:b]", "c := xs[1:b]", "index.end"),
    ("c := strings.TrimLeft(s, t)", "c := strings.TrimPrefix(s, t)", "member.swap"),
    ("c := strings.HasPrefix(s, t)", "c := strings.HasSuffix(s, t)", "member.swap"),
    ("c := len(xs)", "c := cap(xs)", "name.builtin"),
    ("c := float64(a / b)", "c := float64(a) / float64(b)", "type.conversion"),
    ("c := make([]int, a)", "c := make([]int, 0, a)", "call.more"),
    ("c := g(a, b)", "c := g(b, a)", "call.order"),
    ("for i := range xs {\n\t}", "for _, i := range xs {\n\t}", "loop.pair"),
    ("for i, x := range xs {\n\t}", "for x, i := range xs {\n\t}", "loop.pair"),
    ("for i := 0; i < len(xs); i++ {\n\t}", "for i := 0; i <= len(xs); i++ {\n\t}", "compare.boundary"),
    ("for i := 0; i < len(xs); i++ {\n\t}", "for i := 1; i < len(xs); i++ {\n\t}", "constant.integer"),
    ("c, err := g(a)", "c, err := g(a)\n\tif err != nil {\n\t\treturn 0, err\n\t}", "error.check"),
    ("c, _ := g(a)", "c, err := g(a)\n\tif err != nil {\n\t\treturn 0, err\n\t}", "error.kept"),
    ("a, err := g(b)", "a, err = g(b)", "declare.shadow"),
    ("m.Lock()", "m.Lock()\n\tdefer m.Unlock()", "defer.put"),
    ("g(a)", "defer g(a)", "defer.put"),
    ('c := fmt.Sprintf("%d", a)', 'c := fmt.Sprintf("%02d", a)', "string.format"),
]  # fmt: skip


@pytest.mark.parametrize(("old", "new", "operator"), EDITS, ids=[f"{old} → {new}" for old, new, _ in EDITS])
def test_typed_edits(edits_of, old, new, operator):
    found = {
        text.replace(" ", ""): how for text, how in edits_of("p/f.go", f"{HEAD}\t{old}\n}}\n", 4).items()
    }
    assert found.get(f"{HEAD}\t{new}\n}}\n".replace(" ", "")) == operator


def test_a_method_gets_a_pointer(edits_of):
    code = "package p\n\nfunc (c Counter) Add(n int) {\n\tc.n += n\n}\n"
    found = edits_of("p/f.go", code, 3)
    assert found[code.replace("(c Counter)", "(c *Counter)")] == "pointer.receiver"


def test_a_slice_is_copied(edits_of):
    code = (
        "package p\n\ntype L struct{ lines []string }\n\nfunc (l *L) All() []string {\n\treturn l.lines\n}\n"
    )
    found = edits_of("p/f.go", code, 6)
    assert found[code.replace("return l.lines", "return append([]string(nil), l.lines...)")] == "slice.copy"


def test_kinds_that_are_known_are_kept_apart(edits_of):
    code = "package p\n\nfunc f(n int, s string, m int) int {\n\treturn n\n}\n"
    found = edits_of("p/f.go", code, 4)
    assert code.replace("return n", "return m") in found
    assert found.get(code.replace("return n", "return s")) != "name.variable"


def test_what_another_function_does_is_borrowed(edits_of):
    code = (
        "package p\n\nfunc a(tags []string) []string {\n\tsort.Strings(tags)\n\treturn tags\n}\n\n"
        "func b(tags []string) []string {\n\treturn tags\n}\n"
    )
    found = edits_of("p/f.go", code, 9)
    assert (
        found[code[: -len("\treturn tags\n}\n")] + "\tsort.Strings(tags)\n\treturn tags\n}\n"]
        == "statement.insert"
    )


def test_a_guard_is_borrowed_from_another_function(edits_of):
    guard = "\tif len(s.items) == 0 {\n\t\treturn 0, false\n\t}\n"
    peek = f"func (s *S) Peek() (int, bool) {{\n{guard}\treturn s.items[0], true\n}}\n"
    code = f"package p\n\n{peek}\nfunc (s *S) Pop() (int, bool) {{\n\ttop := s.items[0]\n\treturn top, true\n}}\n"
    found = edits_of("p/f.go", code, 11)
    guarded = code.replace("\ttop", f"{guard}\ttop", 1)
    assert found[guarded] == "guard.early"


def test_only_values_of_the_stated_kind_are_given_back(edits_of):
    code = "package p\n\nfunc f(n int, s string) (int, error) {\n\treturn n, nil\n}\n"
    found = edits_of("p/f.go", code, 4)
    assert code.replace("return n,", "return 0,") in found
    assert code.replace("return n,", "return true,") not in found
    assert code.replace("return n,", "return nil,") not in found
