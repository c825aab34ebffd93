"""A roster of who is on duty."""


def rotate(people, days):
    """`people` moved on by `days`: the first ones go to the end."""
    if not people:
        return []
    days %= len(people)
    return people[days:] + people[:1]


class Roster:
    def __init__(self, people):
        self.people = list(people)

    def on_duty(self, day, count=1):
        """The `count` people on duty on `day` (0 is the first)."""
        return rotate(self.people, day)[:count]

    def week(self, start=0):
        return [self.on_duty(day)[0] for day in range(start, start + 7)]

    def swap(self, one, other):
        i, j = self.people.index(one), self.people.index(other)
        self.people[i], self.people[j] = self.people[j], self.people[i]
