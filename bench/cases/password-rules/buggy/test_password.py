from password import acceptable, broken_rules


def test_good():
    assert acceptable("Correct7horse")


def test_too_short():
    assert not acceptable("Ab1")


def test_no_digit():
    assert not acceptable("CorrectHorse")


def test_common():
    assert not acceptable("Password1")


def test_broken_rules():
    assert broken_rules("abc") == ["long enough", "has digit", "has mixed case"]
    assert broken_rules("Correct7horse") == []
