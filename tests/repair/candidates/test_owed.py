"""Warnings, flushes, last returns, strict patterns and a sibling's value: first where the failure asks for them."""

import pytest

CASES = {
    "a warning, its module imported too": (
        "import os\n\n\ndef old_way(path):\n    return os.stat(path)\n", 5,
        'import os\nimport warnings\n\n\ndef old_way(path):\n'
        '    warnings.warn("old_way is deprecated", DeprecationWarning, stacklevel=2)\n    return os.stat(path)\n',
        "", "Failed: DID NOT WARN. No warnings of type (<class 'DeprecationWarning'>,) were emitted.", 5,
    ),
    "a class's warning": (
        'import warnings\n\n\nclass Box:\n    def __init__(self, n):\n        """Fill."""\n        self.n = n\n', 7,
        'import warnings\n\n\nclass Box:\n    def __init__(self, n):\n        """Fill."""\n'
        '        warnings.warn("Box is deprecated", DeprecationWarning, stacklevel=2)\n        self.n = n\n',
        "deprecate Box", "AssertionError: 0 != 1", 5,
    ),
    "flush": (
        "def send(out, rows):\n    for row in rows:\n        out.write(row)\n", 3,
        "def send(out, rows):\n    for row in rows:\n        out.write(row)\n        out.flush()\n",
        "flush each row", "", 5,
    ),
    "close": (
        "import os\n\n\ndef drop(f):\n    os.unlink(f.name)\n", 5,
        "import os\n\n\ndef drop(f):\n    f.close()\n    os.unlink(f.name)\n", "", "", 8,
    ),
    "the last return": (
        'def ending(n):\n    if n == 1:\n        return "st"\n    if n == 2:\n        return "nd"\n', 4,
        'def ending(n):\n    if n == 1:\n        return "st"\n    if n == 2:\n        return "nd"\n    return \'\'\n',
        "", "E       AssertionError: assert None == ''", 8,
    ),
    "a line break at the end": (
        'import re\n\nWORD = re.compile(r"^[a-z]+$")\n', 3,
        'import re\n\nWORD = re.compile(r"^[a-z]+\\Z")\n', "",
        "word = 'ab\\n'\n\n    def test_it(word):\n>       assert not ok(word)\nE       assert not True", 5,
    ),
    "digits of all scripts": (
        'import re\n\nNUMBER = re.compile(r"^\\d+")\n', 3,
        'import re\n\nNUMBER = re.compile(r"^[0-9]+")\n', "",
        "word = '\u0663'\n\n    def test_it(word):\n>       assert not ok(word)\nE       assert not True", 5,
    ),
    "what the sibling has": (
        "def plan(sep):\n    return Plan(head_row=None, data_row=Row(sep))\n", 2,
        "def plan(sep):\n    return Plan(head_row=Row(sep), data_row=Row(sep))\n", "", "", 60,
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_reached(made, name):
    text, line, wanted, request, message, most = CASES[name]
    files = [after for after, _ in made(text, line, request, message)]
    assert wanted in files
    assert files.index(wanted) < most, files.index(wanted)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("def f(x):\n    return x\n", "E       assert 1 == 2"),
        ("def f(x):\n    return x\n", "E       DeprecationWarning: f is old"),
        ("def f(x):\n    if x:\n        return 1\n    else:\n        return 2\n", "E       assert None == 3"),
        ('import re\nW = re.compile(r"^a$")\n', "E       assert 'a' == 'b'"),
    ],
)
def test_silent_without_a_sign(made, text, message):
    operators = {operator for _, operator in made(text, 2, "", message)}
    assert not operators & {"guard.warned", "return.fallen", "string.strict", "statement.owed"}
