"""Jobs and when they're due."""

import heapq
import itertools
from dataclasses import dataclass, field


@dataclass(order=True)
class Job:
    due: float
    number: int
    action: object = field(compare=False)
    every: float | None = field(default=None, compare=False)


class Scheduler:
    def __init__(self, clock):
        self.clock = clock
        self._jobs = []
        self._numbers = itertools.count()

    def once(self, delay, action):
        self._push(self.clock.now + delay, action)

    def repeat(self, every, action):
        """Runs `action` each `every` seconds, the first time after one interval."""
        if every <= 0:
            raise ValueError("interval must be positive")
        self._push(self.clock.now + every, action, every)

    def _push(self, due, action, every=None):
        heapq.heappush(self._jobs, Job(due, next(self._numbers), action, every))

    def run_due(self):
        """Runs what is due, in order; how many ran."""
        count = 0
        while self._jobs and self._jobs[0].due <= self.clock.now:
            job = heapq.heappop(self._jobs)
            job.action()
            count += 1
            if job.every is not None:
                self._push(job.due + job.every, job.action, job.every)
        return count

    @property
    def next_due(self):
        return self._jobs[0].due if self._jobs else None
