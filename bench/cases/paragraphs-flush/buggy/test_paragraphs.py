from paragraphs import fill, paragraphs, refill


def test_closed_paragraphs():
    assert paragraphs("a\nb\n\nc\n\n") == ["a b", "c"]


def test_open_paragraph():
    assert paragraphs("a\n\nb\nc") == ["a", "b c"]


def test_blank_lines_only():
    assert paragraphs("\n \n\n") == []


def test_many_blank_lines():
    assert paragraphs("\n\na\n\n\n\nb\n\n") == ["a", "b"]


def test_fill():
    assert fill("aa bb cc dd", 5) == ["aa bb", "cc dd"]


def test_fill_long_word():
    assert fill("a extraordinary b", 5) == ["a", "extraordinary", "b"]


def test_refill():
    assert refill("one two\nthree\n\nfour", 7) == "one two\nthree\n\nfour"
