from __future__ import annotations

import random

import pytest

from engine.prompt import edits
from engine.train.bugs import braces, makers
from engine.train.corpus.files import Document

TEXTS = {
    "go": (
        "func find(xs []int, want int) (int, error) {\n\tif len(xs) == 0 {\n\t\treturn -1, errNone\n\t}\n"
        '\tat := -1\n\tfor i := 0; i < len(xs); i++ {\n\t\t// "first", i < 3\n\t\tif xs[i] == want && at < 0 {\n'
        "\t\t\tat = i\n\t\t\tbreak\n\t\t}\n\t}\n\tlog(at, want)\n\treturn at, nil\n}\n"
    ),
    "c": (
        "static int find(const int *xs, int n, int want)\n{\n\tint at = -1;\n\tif (n == 0)\n\t\treturn at;\n"
        "\tfor (int i = 0; i < n; i++) {\n\t\tif (xs[i] == want && at < 0) {\n\t\t\tat = i;\n\t\t\tbreak;\n"
        "\t\t} else {\n\t\t\tmiss(n, want);\n\t\t}\n\t}\n\treturn at;\n}\n"
    ),
    "javascript": (
        "function find(xs, want) {\n  if (!xs) return null;\n  let at = -1;\n  for (let i = 0; i < xs.length; i++) {\n"
        "    if (xs[i] === want && at < 0) {\n      at = i;\n    } else {\n      miss(xs, want);\n    }\n  }\n"
        "  const text = 'a < b && true';\n  return at + 1;\n}\n"
    ),
}


@pytest.mark.parametrize("language", TEXTS)
def test_bugs_parse_differ_and_leave_texts_and_comments(language):
    text = TEXTS[language]
    kinds: set[str] = set()
    for seed in range(150):
        done = braces.put(text.rstrip("\n"), language, random.Random(seed), 1)
        if done is None:
            continue
        new, found = done
        kinds.update(found)
        answer = edits.between(new, text.rstrip("\n"))
        assert new != text and edits.apply(answer, new) == text.rstrip("\n")
        assert len(edits.write(answer)) < 120
        assert text.count("a < b && true") == new.count("a < b && true")
        assert text.count("i < 3") == new.count("i < 3")
    assert len(kinds) >= 7


@pytest.mark.parametrize("language", TEXTS)
def test_makers_ask_for_other_languages_too(language):
    document = Document("made", f"a.{language}", language, "// head\n\n" + TEXTS[language])
    made = [makers.bug(document, random.Random(seed)) for seed in range(10)]
    assert sum(example is not None for example in made) >= 8
    assert made == [makers.bug(document, random.Random(seed)) for seed in range(10)]
    assert any(makers.right(document, random.Random(seed)) for seed in range(3))


@pytest.mark.parametrize("language", braces.LANGUAGES)
@pytest.mark.parametrize(
    "text", ["", "{", "}\n" * 9, "func f() {\n", 'int f()\n{\n\t"\n}\n', "function f() {\n  `\n}\n'"]
)
def test_odd_files_give_none_or_an_example(language, text):
    for seed in range(10):
        example = makers.bug(Document("odd", "odd", language, text), random.Random(seed))
        assert example is None or len(example) > 5
