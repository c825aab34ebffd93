"""Which changes are taken for mends."""

from __future__ import annotations

from collections import Counter

import pytest

from engine.prompt.edits import apply
from engine.train.edits.keep import kept
from engine.train.edits.pairs import Pair

BEFORE = '''def read(self, path, limit: int = 3):
    """Reads some."""
    data = self.load(path)
    if len(data) < limit:
        raise ValueError("too short: %s" % path)
    self.seen = data.copy()
    return self.parse(data, "utf-8")
'''


def pair(old: str, new: str, name: str = "read", strange: int = 0) -> Pair:
    assert old in BEFORE
    after = BEFORE.replace(old, new)
    return Pair("p", "p/a.py", "2", name, BEFORE, after, BEFORE.rstrip("\n"), after.rstrip("\n"), strange)


@pytest.mark.parametrize(
    ("old", "new", "kind"),
    [
        ("len(data) < limit", "len(data) <= limit", "comparison"),
        ("ValueError(", "TypeError(", "name"),
        (
            "    self.seen",
            "    if not data:\n        return None\n    self.seen",
            "put in: guard that leaves",
        ),
        ('data, "utf-8"', 'data, "utf-8", path', "call: argument more"),
        ("data.copy()", "list(data.copy())", "wrapped in a call"),
        ("self.load(path)", "self.load(str(path))", "wrapped in a call"),
        ('"utf-8"', '"utf-8-sig"', "text"),
        ("self.parse(data", "parse(data", "name"),
    ],
)
def test_mends(old, new, kind):
    (one,) = kept([pair(old, new)], Counter())
    assert one.kind == kind
    assert apply(one.edits, one.pair.shown) == one.pair.meant


@pytest.mark.parametrize(
    ("old", "new", "why"),
    [
        ("Reads some.", "Reads a few.", "words, types, layout"),
        ("limit: int", "limit: float", "words, types, layout"),
        ("    self.seen =", "    # seen\n    self.seen  =", "words, types, layout"),
        ("too short: %s", "it is too short: %s", "texts"),
        ('"too short: %s" % path', 'f"too short: {path}"', "formatting of texts"),
        ("limit: int = 3", "limit: int = 4", "signature"),
        ("    self.seen", "    warnings.warn(path)\n    self.seen", "warnings, logs, versions, imports"),
        ("self.load", "self.disk.files.load", None),
        (
            "data.copy()\n    return self.parse(data,",
            "copy.copy()\n    return self.parse(copy,",
            "a name anew",
        ),
        ("self.load(path)", "tools.self.load(path)", "warnings, logs, versions, imports"),
        (
            "    self.seen = data.copy()\n",
            "    self.seen = []\n    self.seen.extend(data)\n",
            "statements anew",
        ),
    ],
)
def test_others(old, new, why):
    counts: Counter[str] = Counter()
    assert bool(list(kept([pair(old, new)], counts))) == (why is None)
    assert list(counts) == ([why] if why else [])


def test_new_names_come_with_new_features():
    counts: Counter[str] = Counter()
    assert not list(kept([pair("data.copy()", "shiny(new_thing)", strange=2)], counts))
    assert counts == {"strange names": 1}


def test_what_is_changed_everywhere_is_a_matter_of_style_and_what_is_undone_of_none():
    several = [pair("data.copy()", "data[:]", name) for name in ("a", "b", "c")]
    counts: Counter[str] = Counter()
    assert not list(kept(several, counts)) and counts == {"everywhere": 3}
    assert len(list(kept(several[:2], Counter()))) == 2
    there = pair("< limit", "<= limit")
    back = Pair("p", "p/a.py", "3", "read", there.after, there.before, there.meant, there.shown, 0)
    counts.clear()
    assert not list(kept([there, back], counts)) and counts == {"undone": 2}
