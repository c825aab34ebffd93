"""Calls something again when it fails."""


class GaveUp(Exception):
    def __init__(self, tries, last):
        super().__init__(f"gave up after {tries} tries: {last}")
        self.tries = tries
        self.last = last


class Retry:
    """`sleep` gets the seconds to wait, doubled each time up to `longest`."""

    def __init__(self, sleep, tries=3, first=1.0, longest=30.0):
        self.sleep = sleep
        self.tries = tries
        self.first = first
        self.longest = longest

    def call(self, action, *errors):
        """The result of `action`; only the named errors are tried again."""
        pause = self.first
        for number in range(1, self.tries + 1):
            try:
                return action()
            except errors as error:
                last = error
            self.sleep(pause)
            if number == self.tries:
                break
            pause = min(pause * 2, self.longest)
        raise GaveUp(self.tries, last)
