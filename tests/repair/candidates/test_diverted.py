"""Other ways through code that stands, a statement once more, and what a text is made of: each edit is among the
candidates of its line."""

import pytest

HEAD = (
    "import re\n\n\nclass Book:\n    def __init__(self, strict):\n        self.strict = strict\n"
    "        self.pages = []\n        self.index()\n\n"
    "    def index(self):\n        if self.strict:\n            self.pages = sorted(self.pages)\n\n"
)
CASES = {
    "into the except": (
        "    def take(self, text):\n        try:\n            self.size = int(text)\n"
        "        except (ValueError, TypeError):\n            self.size = 0\n",
        "            self.size = int(text)",
        "            if text is None:\n                raise ValueError()\n            self.size = int(text)",
    ),
    "out with what is there": (
        "    def find(self, page):\n        data = load(page)\n        warn(page)\n        return None\n",
        "        warn(page)",
        "        if data:\n            return data\n        warn(page)",
    ),
    "an else for what isn't there yet": (
        "    def take(self, texts):\n        if texts:\n            self.first = texts[0]\n"
        "        else:\n            self.first = ''\n",
        "        else:",
        "        elif self.first is None:",
    ),
    "a statement of another name": (
        "    def call(self, args, kwargs):\n        args = load(args)\n        return run(*args, **kwargs)\n",
        "        args = load(args)",
        "        args = load(args)\n        kwargs = load(kwargs)",
    ),
    "a condition with what stands under it": (
        "    def call(self, args, kwargs):\n        if args:\n            args = load(args)\n"
        "        return run(*args, **kwargs)\n",
        "            args = load(args)",
        "            args = load(args)\n        if kwargs:\n            kwargs = load(kwargs)",
    ),
    "a term that the file asks elsewhere": (
        "    def clean(self, text):\n        if text.strip():\n            return text\n",
        "        if text.strip():",
        "        if text.strip() and self.strict:",
    ),
    "done to another object of the class": (
        "    def copy(self):\n        made = self.__class__(self.strict)\n        made.pages = list(self.pages)\n"
        "        return made\n",
        "        made.pages = list(self.pages)",
        "        made.pages = list(self.pages)\n        made.index()",
    ),
    "converted where it is filled in": (
        '    def said(self, count):\n        return f"{count} pages"\n',
        '{count}',
        '{int(count)}',
    ),
    "one value in a tuple": (
        '    def said(self, key):\n        return "no %s" % key\n', '"no %s" % key', '"no %s" % (key,)',
    ),
    "bounded from below": (
        '    def said(self, count):\n        return "%d more" % (count - 1)\n', "% (count - 1)", "% max(0, count - 1)",
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_the_edit_is_among_the_candidates(case, made):
    text, old, new = CASES[case]
    assert text.count(old) == 1
    whole = HEAD + text
    at = len(HEAD) + text.index(old)
    line = whole[:at].count("\n") + 1
    wanted = whole[:at] + new + whole[at + len(old) :]
    assert wanted in {after for after, _ in made(whole, line, limit=1500)}


def test_the_same_value_is_converted_at_both_places(made):
    before = 'def said(n, short):\n    return f"{n}B" if short else f"{n} Bytes"\n'
    wanted = 'def said(n, short):\n    return f"{int(n)}B" if short else f"{int(n)} Bytes"\n'
    assert wanted in {after for after, _ in made(before, 2, limit=300)}


def test_an_error_that_tells_of_a_tuple_puts_it_first(made):
    before = 'def said(key):\n    return "no %s" % key\n'
    message = "E       TypeError: not all arguments converted during string formatting"
    ranked = [after for after, _ in made(before, 2, message=message, limit=20)]
    assert before.replace("% key", "% (key,)") in ranked[:3]


def test_what_no_except_catches_is_not_raised(made):
    before = "def take(text):\n    try:\n        return int(text)\n    finally:\n        close(text)\n"
    assert "guard.caught" not in {operator for _, operator in made(before, 3, limit=1500)}


def test_attributes_of_the_name_stay(made):
    before = "def call(box, pot):\n    box.box = load(box)\n    return box, pot\n"
    made_here = {after for after, operator in made(before, 2, limit=1500) if operator == "statement.sequel"}
    assert before.replace("load(box)\n", "load(box)\n    pot.box = load(pot)\n") in made_here


def test_an_assert_that_a_failing_test_runs_into_is_taken_out_early(made):
    before = "def take(pattern):\n    assert type(pattern) is str\n    pattern = pattern.strip()\n    return pattern\n"
    message = ">       assert type(pattern) is str\nE       AssertionError: assert <class 'bytes'> is str"
    wanted = before.replace("    assert type(pattern) is str\n", "")
    ranks = {
        why: [after for after, _ in made(before, 2, message=said, limit=400)].index(wanted)
        for why, said in (("told", message), ("untold", "E       KeyError: 'x'"))
    }
    assert ranks["told"] < ranks["untold"] and ranks["told"] < 20
