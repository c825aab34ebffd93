from flat import depth, flatten


def test_numbers():
    assert flatten([1, [2, (3, 4)], [5]]) == [1, 2, (3, 4), 5]


def test_texts_stay_whole():
    assert flatten(["ab", ["cd", "e"]]) == ["ab", "cd", "e"]


def test_nothing():
    assert flatten([[], ()]) == []


def test_depth():
    assert depth([1, [2, [3]]]) == 3
