from histogram import bars, histogram, top, words


def test_words():
    assert words("Don't stop, Bob!") == ["don't", "stop", "bob"]


def test_nothing():
    assert histogram("") == {}
    assert bars("...") == []


def test_all_ignored():
    assert histogram("a a a", ignore={"a"}) == {}


def test_counts():
    assert histogram("a b a") == {"a": 2, "b": 1}


def test_top():
    assert top("b a c b", 2) == ["b", "a"]


def test_bars():
    assert bars("x y x", 4) == ["x ####", "y ##"]
