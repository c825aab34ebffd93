"""English plurals, well enough for messages."""

IRREGULAR = {
    "child": "children",
    "foot": "feet",
    "man": "men",
    "mouse": "mice",
    "person": "people",
    "tooth": "teeth",
    "woman": "women",
}

SAME = frozenset(["fish", "series", "sheep"])

ENDINGS = (
    ("s", "ses"),
    ("sh", "shes"),
    ("ch", "ches"),
    ("x", "xes"),
    ("fe", "ves"),
)


def plural(word):
    """The plural of a lower-case noun."""
    if word in SAME:
        return word
    if word in IRREGULAR:
        return IRREGULAR[word]
    if word.endswith("y") and word[-2:-1] not in "aeiou":
        return word[:-1] + "ies"
    for ending, replacement in ENDINGS:
        if word.endswith(ending):
            return word[:-len(ending)] + replacement
    return word + "s"


def count(number, word):
    """Like '1 child' or '3 children'."""
    return f"{number} {word if number == 1 else plural(word)}"
