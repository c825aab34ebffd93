"""A leaderboard with shared ranks."""


class Leaderboard:
    def __init__(self):
        self._scores = {}

    def record(self, player, points):
        """Adds `points` to a player's score."""
        self._scores[player] = self._scores.get(player, 0) + points

    def standing(self):
        """(player, score), best first, names in order where scores are equal."""
        by_name = sorted(self._scores.items())
        return sorted(by_name, key=lambda entry: entry[1], reverse=True)

    def ranks(self):
        """player → rank; equal scores share a rank and the next one is skipped."""
        ranks = {}
        previous = None
        rank = 0
        for position, (player, score) in enumerate(self.standing(), 1):
            if score != previous:
                rank = position
                previous = score
            ranks[player] = rank
        return ranks

    def top(self, count=3):
        return [player for player, _ in self.standing()[:count]]

    def remove(self, player):
        if player not in self._scores:
            raise KeyError(player)
        del self._scores[player]
