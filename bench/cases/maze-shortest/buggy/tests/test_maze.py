import pytest

from maze import Maze, shortest


def test_straight():
    assert shortest(Maze("S..G")) == [(0, 0), (0, 1), (0, 2), (0, 3)]


def test_no_way():
    assert shortest(Maze("S#G")) is None


def test_round_a_corner():
    assert len(shortest(Maze("S#\n.G"))) == 3


def test_open_field():
    assert len(shortest(Maze("S....\n.....\n....G"))) == 7


def test_short_cut_is_taken():
    maze = Maze("S..G\n.##.\n....")
    assert len(shortest(maze)) == 4


def test_path_starts_and_ends():
    maze = Maze("..S\n.##\n..G")
    path = shortest(maze)
    assert path[0] == maze.start and path[-1] == maze.goal


def test_no_goal():
    with pytest.raises(ValueError, match="no G"):
        Maze("S..")
