from __future__ import annotations

import ast
import itertools
import random
from collections import Counter

import pytest

from engine.prompt import edits
from engine.prompt.render import Marker
from engine.train.bugs import makers
from engine.train.bugs.kinds import LINES, REPLACED
from engine.train.bugs.put import put
from engine.train.bugs.source import Unit, parse
from engine.train.corpus.files import Document

MOST_EDITED = 450
"""Characters of an answer."""


def learnt(example) -> str:
    return "".join(piece.segment for piece in example if piece.learn and isinstance(piece.segment, str))


def question(example) -> str:
    return next(p.segment for p in example if isinstance(p.segment, str) and "\n1|" in "\n" + p.segment)


def excerpt(example) -> str:
    text = "\n" + question(example)
    return "\n".join(line.partition("|")[2] for line in text[text.index("\n1|") + 1 :].split("\n"))


def answer(example) -> str:
    segments = [piece.segment for piece in example]
    at = max(
        place
        for place, segment in enumerate(segments)
        if segment == "response" and segments[place - 1] is Marker.OPEN
    )
    assert segments[at + 1] is Marker.SEP
    return segments[at + 2]


def test_bugs_parse_differ_and_are_mended_by_a_small_edit(library):
    rng = random.Random(1)
    kinds = Counter()
    for _ in range(600):
        document = rng.choice(library)
        made = makers.put_into(document, rng, rng.randint(1, 3))
        if made is None:
            continue
        unit, done, shown = made
        kinds.update(done.kinds)
        assert parse(done.text) is not None
        assert ast.dump(parse(done.text)) != ast.dump(parse(unit.text)), done.kinds
        answer = edits.between(shown.shown, shown.meant)
        assert answer and edits.apply(answer, shown.shown) == shown.meant
        assert edits.parse(edits.write(answer)) == answer
        # whole lines of the file, so that the mended excerpt stands in it
        assert all(line in document.text for line in shown.meant.split("\n"))
    assert sum(kinds.values()) > 500
    assert sum(kinds[kind] for kind in LINES) >= 0.4 * sum(kinds.values())
    assert len(kinds) >= 0.8 * (len(LINES) + len(REPLACED))


def test_examples_ask_in_the_format_of_repair_and_learn_the_answer_alone(library):
    rng = random.Random(2)
    tiers = Counter()
    for _ in range(200):
        example = makers.bug(rng.choice(library), rng)
        if example is None:
            continue
        tiers["think" in [piece.segment for piece in example]] += 1
        said = answer(example)
        assert len(said) <= MOST_EDITED
        meant = edits.apply(edits.parse(said), excerpt(example))
        assert meant != excerpt(example)
        assert not any(piece.learn for piece in example if piece.segment == question(example))
        assert learnt(example).endswith(said + "responsemessage")
        assert [piece.segment for piece in example][-1] is Marker.END
    assert 0.7 < tiers[False] / sum(tiers.values()) < 0.9


def test_right_code_is_left_as_it_is(library):
    rng = random.Random(3)
    for _ in range(50):
        document = rng.choice(library)
        example = makers.right(document, rng)
        assert example is not None
        assert answer(example) == edits.NONE
        assert all(line in document.text for line in excerpt(example).split("\n"))


@pytest.mark.parametrize("make", [makers.bug, makers.right])
def test_the_same_draw_gives_the_same_example(make, library):
    one, two = (
        [make(document, random.Random(number)) for number, document in enumerate(library)] for _ in range(2)
    )
    assert one == two
    assert one != [make(document, random.Random(99 + number)) for number, document in enumerate(library)]


@pytest.mark.parametrize("make", [makers.bug, makers.right])
@pytest.mark.parametrize(
    "text",
    [
        "",
        "\n",
        "x",
        "def f(:\n",
        "def f():\n",
        "def f():\n    '''\nx\n'''\n",
        "\x00def f(): pass",
        "class A: pass\nclass A: pass\nclass A: pass\n",
        "def ünïcode(ä):\n    ß = ä + 1\n    if ß > 2:\n        return 'é' + ä\n    return ß\n",
        "\t\tdef f(x):\n\t\t\treturn x",
        "if 1:\n  def f(a): return a; return 2\n",
        "def f(x): return (\n x\n)\n" * 50,
        "x = " + "(" * 300 + ")" * 300,
        "@a\n@b\ndef f(x, *, y=[]): return x if y else (yield)\n",
        "def f():\r\n\treturn 1\r",
        "def f():\x0c\n    return 1\n",
        "async def f(a):\n    async for b in a:\n        await b\n    return [c async for c in a if c]\n",
        "print(1);" * 40,
        "elsewhere = re.compile(r'a+')\nx = 1\n",
        "match x:\n    case [1, *_]:\n        y = 1\n    case _:\n        y = f'{x!r:>{y}}'\n",
    ],
)
def test_odd_files_give_an_example_or_none(make, text):
    for seed in range(30):
        example = make(Document("odd", "odd.py", "python", text), random.Random(seed))
        assert example is None or edits.parse(answer(example)) is not None


def test_of_other_files_there_is_no_bug():
    assert makers.bug(Document("a", "a.md", "markdown", "# a\n\ntext\n"), random.Random(1)) is None


def test_several_bugs_stay_apart():
    text = "def f(a, b):\n" + "".join(f"    x{n} = a + b[{n}]\n" for n in range(30)) + "    return x1\n"
    rows = []
    for seed in range(40):
        done = put(Unit(text), random.Random(seed), 3)
        if done is not None and len(done.kinds) == 3:
            rows.append([edit.line for edit in edits.between(done.text, text)])
    assert len(rows) > 10
    assert all(two - one >= 1 for found in rows for one, two in itertools.pairwise(found))
