"""Travel times between stations."""

import heapq


class Network:
    def __init__(self):
        self.links = {}

    def connect(self, one, other, minutes):
        """A link that can be used in both directions."""
        self.links.setdefault(one, {})[other] = minutes
        self.links.setdefault(other, {})[one] = minutes

    def minutes(self, start, goal):
        """The fastest way's minutes, None where there is no way."""
        for station in (start, goal):
            if station not in self.links:
                raise KeyError(f"no station {station}")
        if start == goal:
            return 0
        best = {}
        heap = [(cost, station) for station, cost in self.links[start].items()]
        heapq.heapify(heap)
        while heap:
            cost, station = heapq.heappop(heap)
            if station == goal:
                return cost
            if station in best or station == start:
                continue
            best[station] = cost
            for following, more in self.links[station].items():
                if following not in best:
                    heapq.heappush(heap, (cost + more, following))
        return None

    def within(self, start, limit):
        """Stations that can be reached in at most `limit` minutes, by name."""
        found = []
        for station in sorted(self.links):
            cost = self.minutes(start, station)
            if cost is not None and cost <= limit:
                found.append(station)
        return found
