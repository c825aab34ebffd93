"""Groups rows into batches for sending."""


class Counter:
    def __init__(self):
        self.batches = 0
        self.rows = 0


def batches(rows, size, counter=None):
    """Lists of at most `size` rows, in order; the last may be shorter."""
    if size < 1:
        raise ValueError("size must be positive")
    batch = []
    for row in rows:
        batch.append(row)
        if len(batch) == size:
            yield batch
            batch = []


def send_all(rows, size, send):
    """Sends everything in batches and counts what was sent."""
    counter = Counter()
    for batch in batches(rows, size):
        send(batch)
        counter.batches += 1
        counter.rows += len(batch)
    return counter
