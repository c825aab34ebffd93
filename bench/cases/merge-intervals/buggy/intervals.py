"""Bookings as (start, end) pairs."""


def merge(bookings):
    """Bookings in order, overlapping or touching ones joined."""
    merged = []
    for start, end in sorted(bookings):
        if end < start:
            raise ValueError(f"ends before it starts: {start}–{end}")
        if merged and start <= merged[-1][1]:
            last_start, last_end = merged[-1]
            merged[-1] = (last_start, max(start, end))
        else:
            merged.append((start, end))
    return merged


def free(bookings, day_start, day_end):
    """Gaps between the bookings within a day."""
    gaps = []
    at = day_start
    for start, end in merge(bookings):
        if start > at:
            gaps.append((at, min(start, day_end)))
        at = max(at, end)
    if at < day_end:
        gaps.append((at, day_end))
    return gaps


def longest_gap(bookings, day_start, day_end):
    return max(free(bookings, day_start, day_end), key=lambda gap: gap[1] - gap[0], default=None)
