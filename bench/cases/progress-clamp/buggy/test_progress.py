from progress import Progress, overall


def at(done, total):
    progress = Progress(total)
    progress.advance(done)
    return progress


def test_half():
    assert at(5, 10).fraction == 0.5
    assert at(5, 10).percent == 50


def test_empty_file():
    assert at(0, 0).percent == 100


def test_never_backwards():
    progress = at(5, 10)
    progress.advance(-3)
    assert progress.done == 5


def test_too_many_bytes():
    assert at(12, 10).percent == 100


def test_bar():
    assert at(4, 10).bar() == "[####......]  40%"


def test_full_bar():
    assert at(15, 10).bar() == "[##########] 100%"


def test_overall():
    assert overall([at(1, 2), at(2, 2)]) == 0.75
    assert overall([]) == 1.0
