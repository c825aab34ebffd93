from headline import headline


def test_plain():
    assert headline("lost cat found") == "Lost Cat Found"


def test_small_words_inside():
    assert headline("the cat AND the hat") == "The Cat and the Hat"


def test_small_word_at_the_end():
    assert headline("what to hold on to") == "What to Hold on To"


def test_possessive():
    assert headline("the dog's dinner") == "The Dog's Dinner"


def test_contraction():
    assert headline("why it doesn't work") == "Why It Doesn't Work"


def test_hyphen():
    assert headline("well-known facts") == "Well-Known Facts"


def test_acronym_stays():
    assert headline("NASA plans a trip") == "NASA Plans a Trip"


def test_mixed_case_is_normalised():
    assert headline("hELLO world") == "Hello World"
