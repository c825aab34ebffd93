from display import shown, warmest


def test_cold():
    assert shown(-3.42) == "-3.4 °C"


def test_just_below_zero():
    assert shown(-0.04) == "0.0 °C"


def test_digits():
    assert shown(1.256, 2) == "1.26 °C"


def test_warmest():
    assert warmest([-5.0, 2.34]) == "2.3 °C"
