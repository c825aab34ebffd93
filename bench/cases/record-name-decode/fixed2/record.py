"""Fixed-size binary records of a name (16 bytes), a number and a flag."""

import struct

RECORD = struct.Struct("<16sIB")


class Record:
    def __init__(self, name, number, active=True):
        self.name = name
        self.number = number
        self.active = active

    def to_bytes(self):
        data = self.name.encode("utf-8")
        if len(data) > 16:
            raise ValueError("name is too long")
        return RECORD.pack(data, self.number, int(self.active))

    @classmethod
    def from_bytes(cls, data):
        name, number, active = RECORD.unpack(data)
        return cls(name.rstrip(b"\0").decode(), number, bool(active))


def read_all(data):
    """Every record of a file's bytes."""
    if len(data) % RECORD.size:
        raise ValueError("file is cut off")
    starts = range(0, len(data), RECORD.size)
    return [Record.from_bytes(data[start:start + RECORD.size]) for start in starts]


def find(data, name):
    """The first active record of that name, or None."""
    for record in read_all(data):
        if record.active and record.name == name:
            return record
    return None
