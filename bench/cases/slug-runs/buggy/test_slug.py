from slug import Slugs, plain, slug


def test_plain():
    assert plain("Café") == "cafe"


def test_simple():
    assert slug("Hello World") == "hello-world"


def test_several_blanks():
    assert slug("a   b") == "a-b"


def test_marks():
    assert slug("Rock & Roll, live!") == "rock-roll-live"


def test_ends():
    assert slug("...Wait!") == "wait"


def test_nothing_left():
    assert slug("???") == "untitled"


def test_length():
    assert slug("abc def", longest=4) == "abc"


def test_taken():
    slugs = Slugs()
    assert [slugs.take("A"), slugs.take("a"), slugs.take("A!")] == ["a", "a-2", "a-3"]
