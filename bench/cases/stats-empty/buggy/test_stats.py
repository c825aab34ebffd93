from stats import describe, mean, median, spread


def test_mean():
    assert mean([1, 2, 6]) == 3
    assert mean([]) is None


def test_median_odd():
    assert median([9, 1, 5]) == 5


def test_median_even():
    assert median([4, 1, 3, 2]) == 2.5


def test_median_of_one():
    assert median([0]) == 0


def test_median_of_nothing():
    assert median([]) is None


def test_spread():
    assert spread([3, 9, 4]) == 6
    assert spread([3]) == 0


def test_describe_with_empty_group():
    facts = describe({"a": [1, 3], "b": []})
    assert facts == {"a": (2, 2, 2), "b": (None, None, 0)}
