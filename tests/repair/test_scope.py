from deskagent.repair.scope import Scopes
from deskagent.repair.source import SourceFile
from deskagent.repair.syntax import Syntax

CODE = """import re as regex
LIMIT = 3

def helper(x):
    return x

def f(items, n=0, *rest, key, **more):
    counts = [0] * n
    for i, item in enumerate(items):
        counts[i] += 1
    seen = set()
    def inner(y):
        seen.add(y)
        return y
    with open(key) as handle:
        late = [z for z in handle]
    try:
        pass
    except ValueError as error:
        unused = error
    if (walrus := n):
        pass
    return late, i
"""


def scopes() -> Scopes:
    return Scopes(Syntax(SourceFile.from_bytes("x.py", CODE.encode())))


def test_what_is_visible_and_where_it_comes_from():
    made = scopes()
    names = made.visible(made.syntax.by_line[23])
    origins = {text: name.origin for text, name in names.items()}
    assert {t for t, o in origins.items() if o == "parameter"} == {"items", "n", "rest", "key", "more"}
    local = {t for t, o in origins.items() if o == "local"}
    assert local == {"counts", "i", "item", "seen", "handle", "late", "error", "unused", "walrus"}
    assert origins["inner"] == origins["helper"] == origins["f"] == "definition"
    assert origins["LIMIT"] == "module" and origins["regex"] == "import"
    assert "z" not in names and "y" not in names and "ValueError" not in names


def test_enclosing_functions_and_comprehensions():
    made = scopes()
    inner = made.visible(made.syntax.by_line[13])
    assert inner["y"].origin == "parameter" and inner["seen"].origin == "outer"
    comprehension = next(n for n in made.syntax.root.walk() if n.kind == "list_comprehension")
    assert made.visible(comprehension.parts[0])["z"].origin == "loop"


def test_uses_and_kinds():
    made = scopes()
    names = made.visible(made.syntax.by_line[23])
    assert names["counts"].reads == 0 and names["counts"].fills == 1 and names["counts"].kinds == {"list"}
    assert names["i"].kinds == {"int"} and names["n"].kinds == {"int"} and names["n"].initial == "0"
    assert names["seen"].kinds == {"set"} and names["unused"].reads == 0
    assert names["items"].reads == 1
