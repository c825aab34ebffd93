from spell import common_prefix, missing, suggest, unknown

WORDS = ["bread", "beard", "board", "broad", "tea", "team", "steam"]


def test_common_prefix():
    assert common_prefix("bread", "break") == 4
    assert common_prefix("a", "b") == 0


def test_missing():
    assert missing("aab", "ab") == 1


def test_known_word():
    assert suggest("tea", WORDS) == ["tea"]


def test_extra_letters():
    assert suggest("teax", WORDS, 1) == ["tea"]


def test_short_typing():
    assert suggest("te", WORDS, 2) == ["tea", "team"]


def test_equal_start_wins():
    assert suggest("braed", WORDS, 2) == ["bread", "beard"]


def test_short_words_first():
    assert suggest("tea", ["teakettle", "team"], 1) == ["team"]


def test_unknown():
    assert unknown("Bread and tea", WORDS) == ["and"]
