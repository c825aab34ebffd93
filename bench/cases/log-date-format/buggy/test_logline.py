from datetime import datetime

from logline import between, levels, parse

LINES = [
    "01.02.2024 10:02:00 INFO up",
    "01.02.2024 10:02:30 ERROR disk is full",
    "01.02.2024 11:02:00 INFO down\n",
]


def test_text_and_level():
    entry = parse(LINES[1])
    assert (entry.level, entry.text) == ("ERROR", "disk is full")


def test_levels():
    assert levels(LINES) == {"INFO": 2, "ERROR": 1}


def test_newline_is_dropped():
    assert parse(LINES[2]).text == "down"


def test_time():
    assert parse("24.12.2023 18:45:07 INFO x").time == datetime(2023, 12, 24, 18, 45, 7)


def test_between():
    assert between(LINES, datetime(2024, 2, 1, 10, 0), datetime(2024, 2, 1, 11, 0)) == ["up", "disk is full"]
