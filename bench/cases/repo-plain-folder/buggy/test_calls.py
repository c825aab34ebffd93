from calls import Calls


def test_above_and_below():
    calls = Calls(5)
    calls.add(2)
    assert calls.above(1) and not calls.above(2)
    assert calls.below(3) and not calls.below(2)


def test_done():
    calls = Calls(5)
    calls.add(2)
    calls.done(2)
    calls.done(2)
    assert not calls.waiting(2)
