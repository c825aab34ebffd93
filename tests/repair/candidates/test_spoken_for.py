"""Edits that an error or the file's other code speaks for: None where a value is needed, types, owners, values to fall
back on, every element, parameters handed on."""

import pytest

ALIKE = "E   AssertionError: assert 1 == 2"
CASES = {
    "leave right after the value was given": (
        "def price(book):\n    entry = find(book)\n    if book.old:\n        return entry\n    return entry[0]\n", 5,
        "    entry = find(book)\n    if entry is None:\n        return None\n    if book.old:",
        "E   TypeError: 'NoneType' object is not subscriptable", 40,
    ),
    "leave before the value is needed": (
        "def names(shelf):\n    for book in shelf.books:\n        yield book.title.upper()\n", 2,
        "    if shelf.books is None:\n        return\n    for book",
        "E   TypeError: 'NoneType' object is not iterable", 40,
    ),
    "another value for None": (
        "def total(basket):\n    extra = basket.extra\n    return basket.size + sum(extra)\n", 3,
        "sum(extra or ())", "E   TypeError: 'NoneType' object is not iterable", 40,
    ),
    "None of None": (
        "def label(item):\n    return item.owner.name\n", 2,
        "return item.owner.name if item.owner is not None else None",
        "E   AttributeError: 'NoneType' object has no attribute 'name'", 40,
    ),
    "a condition asks for what its branch takes": (
        "class Row:\n    def hint(self):\n        text = 'row'\n        if self.shown:\n"
        "            text += f' ({self.place})'\n        return text\n", 4,
        "if self.shown and self.place is not None:",
        "E   AssertionError: assert 'row (None)' == 'row'", 10,
    ),
    "elements that are None": (
        "def pick(rows):\n    return [row.x for row in rows]\n", 2, "[row.x for row in rows if row is not None]",
        "E   AttributeError: 'NoneType' object has no attribute 'x'", 20,
    ),
    "an attribute that may be missing": (
        "def title(page):\n    return page.heading\n", 2, 'return getattr(page, "heading", None)',
        "E   AttributeError: 'Blank' object has no attribute 'heading'", 20,
    ),
    "isinstance for type in": (
        "def shape(value):\n    if type(value) in [str, bytes]:\n        return 1\n    return 0\n", 2,
        "if isinstance(value, (str, bytes)):", ALIKE, 10,
    ),
    "not isinstance for type is not": (
        "def shape(value):\n    if type(value) is not Row:\n        return 1\n    return 0\n", 2,
        "if not isinstance(value, Row):", ALIKE, 20,
    ),
    "the type before the comparison": (
        "def mark(value):\n    if value == '':\n        return '-'\n    return value\n", 2,
        "if isinstance(value, str) and value == '':", "E   ValueError: cannot compare", 10,
    ),
    "no text": (
        "def spread(value):\n    if hasattr(value, '__iter__'):\n        return list(value)\n    return [value]\n", 2,
        "if hasattr(value, '__iter__') and not isinstance(value, str):",
        "E   AttributeError: 'str' object has no attribute 'ports'", 40,
    ),
    "one more type": (
        "def check(v):\n    if isinstance(v, list):\n        return 1\n    return 0\n", 2,
        "isinstance(v, (list, tuple))",
        "v = (1, 2)\nE   AssertionError: assert 0 == 1", 40,
    ),
    "another owner": (
        "class Leaf:\n    def bind(self, plan):\n        self.form = getattr(plan.settings, 'form')\n"
        "    def other(self):\n        return self.tree.settings\n", 3, "getattr(self.tree.settings, 'form')",
        "E   AttributeError: 'Bough' object has no attribute 'settings'", 20,
    ),
    "the method above": (
        "class Leaf(Plant):\n    def grow(self):\n        return self.grow() + 1\n", 3, "super().grow() + 1",
        "E   RecursionError: maximum recursion depth exceeded", 60,
    ),
    "what the file takes elsewhere": (
        "PORTS = {}\nclass Place:\n    def __init__(self):\n        self._port = PORTS.get(self.scheme)\n"
        "    def port(self):\n        return self._port\n", 6, "return self._port or PORTS.get(self.scheme)",
        "E   assert None == 80", 10,
    ),
    "every element": (
        "def names(rows):\n    return ', '.join(rows)\n", 2, "', '.join(map(str, rows))",
        "E   TypeError: sequence item 0: expected str instance, int found", 20,
    ),
    "the elements as they are": (
        "def parts(text):\n    found = [b for a in text.split('&') for b in a.split(';')]\n    return found\n", 2,
        "found = text.split('&')\n", ALIKE, 20,
    ),
    "the comprehension that stands elsewhere": (
        "class Map:\n    def keys(self):\n        spots = map(str, self.spots)\n        return spots\n"
        "    def other(self):\n        return {self.plain(s) for s in self.spots}\n", 3,
        "spots = [self.plain(s) for s in self.spots]", ALIKE, 20,
    ),
    "a parameter handed on": (
        "class Loader(Base):\n    def load(self, path, strict=False, **options):\n        if strict:\n"
        "            check(path)\n        return super().load(path)\n", 5,
        "super().load(path, strict=strict)", ALIKE, 40,
    ),
    "keywords handed on": (
        "class Loader(Base):\n    def load(self, path, **options):\n        self.options = options\n"
        "        return super().load(path)\n", 4, "super().load(path, **options)", ALIKE, 20,
    ),
    "a file for text": (
        "def keep(path, text):\n    file = open(path, 'wb')\n    file.write(text)\n", 2, "open(path, 'w')",
        "E   TypeError: a bytes-like object is required, not 'str'", 10,
    ),
    "a file for bytes": (
        'def keep(path, data):\n    file = open(path, mode="w")\n    file.write(data)\n', 2, 'open(path, mode="wb")',
        "E   TypeError: write() argument must be str, not bytes", 10,
    ),
    "a copy that is not deep": (
        "import copy\ndef own(plan):\n    return copy.deepcopy(plan)\n", 3, "copy.copy(plan)", ALIKE, 20,
    ),
    "the size of something else": (
        "def width(rows, heads, a, b, c, d):\n    n = len(rows[0])\n    return len(heads) + n\n", 2,
        "len(rows[0]) if rows else len(heads)", "E   IndexError: list index out of range", 60,
    ),
    "the file's own repr": (
        "from shown import short_repr\ndef show(steps):\n    return 'S' + repr(steps)\n", 3,
        "short_repr(steps)", ALIKE, 20,
    ),
    "a keyword by its own name": (
        "def ranked(rows, key=None):\n    return sorted(rows)\n", 2, "sorted(rows, key=key)", ALIKE, 10,
    ),
    "stars": (
        "def call(f, *args, **more):\n    return f(args, more)\n", 2, "f(*args, **more)", ALIKE, 20,
    ),
    "of the class's own kind": (
        "class Leaf:\n    def __eq__(self, other):\n        return self.x == other.x\n", 3,
        "return isinstance(other, Leaf) and self.x == other.x",
        "E   AttributeError: 'int' object has no attribute 'x'", 20,
    ),
    "of the class it really has": (
        "class Leaf:\n    def twin(self):\n        return Leaf(self.x)\n", 3, "type(self)(self.x)", ALIKE, 20,
    ),
    "no part by nothing": (
        "def mean(rows):\n    return sum(rows) / len(rows)\n", 2, "sum(rows) / len(rows) if rows else 0",
        "E   ZeroDivisionError: division by zero", 40,
    ),
    "too many parts": (
        "def head(line):\n    name, value = line.split(':')\n    return name\n", 2, "line.split(':', 1)",
        "E   ValueError: too many values to unpack (expected 2)", 20,
    ),
    "too few parts": (
        "def head(line):\n    name, value = line.split(':')\n    return name\n", 2,
        "name, _, value = line.partition(':')",
        "E   ValueError: not enough values to unpack (expected 2, got 1)", 20,
    ),
    "lines of any sort": (
        "def rows(text):\n    return text.split('\\n')\n", 2, "return text.splitlines()", ALIKE, 20,
    ),
    "a function that a module's name stands for": (
        "class Plain:\n    def repr(self, it):\n        return '-'\nshort_repr = Plain().repr\n"
        "def label(it):\n    return short_repr(it)\ndef show(steps):\n    return 'S' + repr(steps)\n", 8,
        "'S' + short_repr(steps)", ALIKE, 20,
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_reached_early(made, name):
    text, line, wanted, message, most = CASES[name]
    assert any(wanted in new for new, _ in made(text, line, "", message, most))


def test_nothing_of_none_where_no_error_speaks_of_it(made):
    text = "def label(item):\n    return item.owner.name\n"
    operators = {operator for _, operator in made(text, 2, "", ALIKE, 300)}
    assert not {one for one in operators if one.startswith("none.")}


def test_a_name_that_is_out_of_sight_is_no_owner_and_no_value_to_fall_back_on(made):
    text = (
        "def one(plan):\n    secret = plan.make()\n    return secret.settings or secret.fresh(plan)\n"
        "def two(thing):\n    return thing.settings\n"
    )
    message = "E   AttributeError: 'Bough' object has no attribute 'settings'"
    for new, operator in made(text, 5, "", message, 400):
        if operator in {"member.owner", "absent.otherwise"}:
            assert "secret" not in new.splitlines()[4]
