import pytest

from retry import GaveUp, Retry


class Flaky:
    def __init__(self, failures, error=OSError("down")):
        self.failures = failures
        self.error = error
        self.calls = 0

    def __call__(self):
        self.calls += 1
        if self.calls <= self.failures:
            raise self.error
        return "ok"


def test_first_time():
    pauses = []
    assert Retry(pauses.append).call(Flaky(0), OSError) == "ok"
    assert pauses == []


def test_second_time():
    pauses = []
    assert Retry(pauses.append).call(Flaky(1), OSError) == "ok"
    assert pauses == [1.0]


def test_doubling():
    pauses = []
    Retry(pauses.append, tries=5, longest=3).call(Flaky(4), OSError)
    assert pauses == [1.0, 2.0, 3, 3]


def test_gives_up():
    pauses = []
    with pytest.raises(GaveUp, match="gave up after 3 tries: down"):
        Retry(pauses.append).call(Flaky(9), OSError)
    assert pauses == [1.0, 2.0]


def test_one_try_never_waits():
    pauses = []
    with pytest.raises(GaveUp):
        Retry(pauses.append, tries=1).call(Flaky(1), OSError)
    assert pauses == []


def test_other_errors_pass_through():
    with pytest.raises(KeyError):
        Retry(lambda seconds: None).call(Flaky(1, KeyError("x")), OSError)
