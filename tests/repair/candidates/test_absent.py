"""Absent, empty, of another case, a truth value: the right edit is among the first of its line."""

import pytest

CASES = {
    "given": (
        "def greet(name, title=None):\n    if title:\n        name = title + name\n    return name\n", 2,
        "    if title is not None:", "", "AssertionError: assert 'Ann' == ' Ann'", 25,
    ),
    "one part of a condition": (
        "def open_at(day, hours=None):\n    if day and hours:\n        return hours\n    return []\n", 2,
        "    if day and hours is not None:", "", "", 60,
    ),
    "either": (
        "def choose(tags=None):\n    return list(tags or known())\n", 2,
        "    return list(tags if tags is not None else known())", "", "", 30,
    ),
    "neither": (
        "def choose(tags=None):\n    return tags if tags is not None else known()\n", 2,
        "    return tags or known()", "", "", 60,
    ),
    "the first of nothing": (
        "def width(rows, heads):\n    columns = len(rows[0])\n    return columns\n", 2,
        "    columns = len(rows[0]) if rows else len(heads)", "", "IndexError: list index out of range", 60,
    ),
    "no value": (
        "def top(shelf):\n    return shelf[-1]\n", 2,
        "    return shelf[-1] if shelf else None", "", "IndexError: list index out of range", 40,
    ),
    "start of an empty text": (
        'def hidden(name):\n    return name[0] == "."\n', 2,
        '    return name.startswith(".")', "", "IndexError: string index out of range", 40,
    ),
    "not the end": (
        'def closed(line):\n    if line[-1] != ";":\n        return False\n    return True\n', 2,
        '    if not line.endswith(";"):', "", "", 90,
    ),
    "letter case": (
        'def plain(kind):\n    return kind != "Text"\n', 2,
        '    return kind.lower() != "text"', "the kind is case-insensitive", "", 30,
    ),
    "letter case of a start": (
        'def local(url):\n    return url.startswith("file:")\n', 2,
        '    return url.lower().startswith("file:")', "URL schemes have no case", "", 30,
    ),
    "no truth value": (
        "def count(value):\n    if not isinstance(value, int):\n        raise TypeError(value)\n    return value\n", 2,
        "    if not isinstance(value, int) or isinstance(value, bool):", "booleans are no counts", "", 40,
    ),
    "a number alone": (
        "def size(value):\n    return isinstance(value, (int, float))\n", 2,
        "    return isinstance(value, (int, float)) and not isinstance(value, bool)", "", "", 60,
    ),
}  # fmt: skip


def lines(made, text, line, request="", message="", limit=400):
    """What the line becomes, by rank."""
    for after, operator in made(text, line, request, message, limit):
        yield "".join(after.splitlines()[line - 1 : line]), operator


@pytest.mark.parametrize("name", CASES)
def test_reached(made, name):
    text, line, wanted, request, message, most = CASES[name]
    found = [new for new, _ in lines(made, text, line, request, message)]
    assert wanted in found
    assert found.index(wanted) < most, found.index(wanted)


@pytest.mark.parametrize(
    "text",
    [
        "def f(x):\n    return x\n",
        "def f(x):\n    x[0] = 1\n",
        "def f(x, y):\n    while not (x or y):\n        y = x\n",
        'def f(x):\n    return x == f"{x}a"\n',
        "def f(x):\n    return isinstance(x, str)\n",
    ],
)
def test_says_nothing_where_nothing_speaks_for_it(made, text):
    operators = {operator for _, operator in lines(made, text, 2)}
    assert not operators & {"absent.nothing", "absent.case", "absent.truth"}
