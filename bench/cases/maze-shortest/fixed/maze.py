"""Ways through a maze drawn in text."""

from collections import deque

STEPS = ((-1, 0), (0, 1), (1, 0), (0, -1))


class Maze:
    """`#` is wall, `S` the start, `G` the goal."""

    def __init__(self, drawing):
        self.rows = drawing.strip("\n").split("\n")
        self.start = self._find("S")
        self.goal = self._find("G")

    def _find(self, mark):
        for y, row in enumerate(self.rows):
            x = row.find(mark)
            if x >= 0:
                return y, x
        raise ValueError(f"no {mark} in the maze")

    def open(self, y, x):
        return 0 <= y < len(self.rows) and 0 <= x < len(self.rows[y]) and self.rows[y][x] != "#"

    def neighbours(self, place):
        y, x = place
        for dy, dx in STEPS:
            if self.open(y + dy, x + dx):
                yield y + dy, x + dx


def shortest(maze):
    """Places from start to goal, both included; None where there's no way."""
    came_from = {maze.start: None}
    queue = deque([maze.start])
    while queue:
        place = queue.popleft()
        if place == maze.goal:
            break
        for following in maze.neighbours(place):
            if following not in came_from:
                came_from[following] = place
                queue.append(following)
    else:
        return None
    path = []
    while place is not None:
        path.append(place)
        place = came_from[place]
    return path[::-1]
