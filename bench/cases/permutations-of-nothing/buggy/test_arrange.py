from arrange import allowed, arrangements, count, valid


def test_nothing():
    assert arrangements([]) == [[]]


def test_one():
    assert arrangements("a") == [["a"]]


def test_three():
    assert arrangements([1, 2, 3])[:3] == [[1, 2, 3], [1, 3, 2], [2, 1, 3]]
    assert count("abc") == 6


def test_valid():
    assert valid("abc", {("a", "c")})
    assert not valid("abc", {("b", "a")})


def test_valid_short():
    assert valid("", {("a", "b")}) and valid("a", {("a", "b")})


def test_allowed():
    assert allowed("abc", [("a", "b")]) == [["a", "c", "b"], ["b", "c", "a"]]
