from notes import Note, search

TEA = Note("Tea", "boil water, add tea")
COFFEE = Note("Coffee", "grind, then add water")
OLD = Note("Old tea", "thrown away", archived=True)
NOTES = [COFFEE, TEA, OLD]


def test_one():
    assert search(NOTES, "grind") == [COFFEE]


def test_none():
    assert search(NOTES, "cocoa") == []


def test_two():
    assert search(NOTES, "water") == [COFFEE, TEA]


def test_best_first():
    assert search(NOTES, "tea water") == [TEA, COFFEE]


def test_case_is_ignored():
    assert search(NOTES, "TEA") == [TEA]


def test_archived():
    assert search(NOTES, "thrown", archived=True) == [OLD]
    assert search(NOTES, "thrown") == []
