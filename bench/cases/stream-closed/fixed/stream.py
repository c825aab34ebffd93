"""An in-memory stream of lines."""


class Closed(Exception):
    pass


class LineStream:
    def __init__(self, lines=()):
        self._lines = list(lines)
        self._at = 0
        self._open = True

    def _check_open(self, action):
        if not self._open:
            raise Closed(f"cannot {action} a closed stream")

    def read(self):
        """The next line, None at the end."""
        self._check_open("read")
        if self._at >= len(self._lines):
            return None
        line = self._lines[self._at]
        self._at += 1
        return line

    def write(self, line):
        """Adds a line at the end."""
        self._check_open("write")
        self._lines.append(line.rstrip("\n"))

    def rewind(self):
        self._check_open("rewind")
        self._at = 0

    def close(self):
        self._open = False

    def __len__(self):
        return len(self._lines)
