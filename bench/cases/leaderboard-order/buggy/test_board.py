import pytest

from board import Leaderboard


@pytest.fixture
def board():
    board = Leaderboard()
    for player, points in [("ann", 5), ("bob", 9), ("cyd", 5), ("dan", 2)]:
        board.record(player, points)
    return board


def test_points_add_up(board):
    board.record("dan", 1)
    assert dict(board.standing())["dan"] == 3


def test_best_first(board):
    assert board.top(2) == ["bob", "ann"]


def test_shared_ranks(board):
    assert board.ranks() == {"bob": 1, "ann": 2, "cyd": 2, "dan": 4}


def test_one_player():
    board = Leaderboard()
    board.record("eve", 1)
    assert board.top() == ["eve"]
    assert board.ranks() == {"eve": 1}


def test_equal_scores_by_name():
    board = Leaderboard()
    board.record("zoe", 3)
    board.record("abe", 3)
    assert board.top() == ["abe", "zoe"]


def test_remove(board):
    board.remove("bob")
    assert "bob" not in board.ranks()
    with pytest.raises(KeyError):
        board.remove("bob")
