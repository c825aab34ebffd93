"""Records out of segments, whatever state these are in: what can be read is, the rest is reported."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from deskagent.session import record, segment, store
from deskagent.session.record import Place, Record
from deskagent.session.recovery import Damage, bad_line, torn_tail, unreadable


def records(
    segments: Sequence[Path], after: int, damage: list[Damage], start: Place | None = None
) -> Iterator[Record]:
    """The records above `after`, each number once and in rising order; adds what is wrong to `damage`. start: a place
    that isn't behind them; nothing before it is read."""
    last = start.seq if start else 0
    if start:
        found = [path for path in segments if store.number(path) >= start.segment]
    else:
        found = _reaching(segments, after)
    for path in found:
        number = store.number(path)
        offset = start.offset if start and number == start.segment else 0
        for envelope, end in _envelopes(path, damage, offset):
            if envelope.seq <= last:
                damage.append(Damage("duplicate", path.name, f"record {envelope.seq} is there twice"))
                continue
            expected = max(last, after) + 1
            last = envelope.seq
            if envelope.seq <= after:
                continue
            if envelope.seq != expected:
                missing = (
                    f"record {expected} is"
                    if envelope.seq == expected + 1
                    else (f"records {expected} to {envelope.seq - 1} are")
                )
                damage.append(
                    Damage("gap", path.name, f"{missing} missing before {path.name}'s {envelope.seq}")
                )
            event = record.decode_event(envelope.payload)
            if event is None:
                damage.append(
                    Damage("bad", path.name, f"record {envelope.seq} of {path.name} holds no event")
                )
                continue
            yield Record(envelope.seq, event, envelope.payload, Place(envelope.seq, number, end))


def last_number(segments: Sequence[Path]) -> int:
    """The number of the last record that can be read, found from the end: 0 where there is none."""
    for path in reversed(segments):
        found = [envelope.seq for envelope, _ in _envelopes(path, [])]
        if found:
            return max(found)
    return 0


def _envelopes(path: Path, damage: list[Damage], offset: int = 0) -> Iterator[tuple[record.Envelope, int]]:
    """The good lines from `offset` on, each with the offset after it."""
    pending: list[segment.Line] = []  # damaged lines: bad if a good one follows, else the torn tail
    try:
        for line in segment.lines(path, offset):
            if line.content is None:
                pending.append(line)
                continue
            damage += [bad_line(path, bad) for bad in pending]
            pending = []
            if isinstance(line.content, record.Envelope):
                yield line.content, line.offset + len(line.raw)
    except OSError as error:
        damage.append(unreadable(path, error))
    if pending:
        damage.append(torn_tail(path, pending))


def _reaching(segments: Sequence[Path], after: int) -> Sequence[Path]:
    """The segments that can hold records above `after`."""
    for index in range(len(segments) - 1, 0, -1):
        try:
            head = segment.header(segments[index]) if after else None
        except OSError:
            continue
        if head is not None and head.first <= after + 1:
            return segments[index:]
    return segments
