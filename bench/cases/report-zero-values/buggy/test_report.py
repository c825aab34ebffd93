from report import report, summary


def test_absent_readings_are_left_out():
    assert summary([1, None, 3]) == {"count": 2, "low": 1, "high": 3, "mean": 2}


def test_nothing_measured():
    assert summary([None, None]) == {"count": 0}


def test_zero_is_a_reading():
    assert summary([0, 4, 2])["low"] == 0


def test_freezing_day():
    assert report({"roof": [0.0, None]}) == ["roof: 0.0..0.0 (1)"]


def test_negative():
    assert summary([-3, 3])["mean"] == 0


def test_report():
    lines = report({"b": [2, 1], "a": []})
    assert lines == ["a: no data", "b: 1.0..2.0 (2)"]
