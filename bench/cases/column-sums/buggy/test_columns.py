from columns import column_sums, row_sums, share, with_totals


def test_one_row():
    assert column_sums([[1, 2, 3]]) == [1, 2, 3]


def test_two_rows():
    assert column_sums([[1, 2], [10, 20]]) == [11, 22]


def test_short_row():
    assert column_sums([[1, 2], [3]]) == [4, 2]


def test_row_sums():
    assert row_sums([[1, 2], []]) == [3, 0]


def test_totals():
    assert with_totals([[1, 2], [3, 4]]) == [[1, 2, 3], [3, 4, 7], [4, 6, 10]]


def test_share():
    assert share([[1, 3]]) == [25, 75]
    assert share([[0, 0]]) == [0, 0]
    assert share([[]]) == []
