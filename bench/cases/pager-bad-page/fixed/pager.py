"""Cuts a list of results into pages."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Page:
    items: tuple
    number: int
    pages: int

    @property
    def has_next(self):
        return self.number < self.pages

    @property
    def has_previous(self):
        return self.number > 1


class Pager:
    def __init__(self, results, size=10):
        if size < 1:
            raise ValueError("size must be at least 1")
        self.results = list(results)
        self.size = size

    @property
    def pages(self):
        """How many pages there are; an empty list has one."""
        return max(1, -(-len(self.results) // self.size))

    def page(self, number):
        """Page `number`, counted from 1."""
        if number < 1:
            raise ValueError("page must be at least 1")
        if number > self.pages:
            raise LookupError(f"no page {number} of {self.pages}")
        start = (number - 1) * self.size
        return Page(tuple(self.results[start:start + self.size]), number, self.pages)

    def __iter__(self):
        for number in range(1, self.pages + 1):
            yield self.page(number)
