import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent.parent))

from units import convert
from units.convert import UnknownUnit, convert_text


def test_length():
    assert convert(2, "km", "m") == 2000


def test_inches():
    assert convert(1, "ft", "in") == pytest.approx(12)


def test_mass():
    assert convert(500, "g", "kg") == 0.5


def test_miles():
    assert convert(1, "mi", "m") == 1609.344


def test_text():
    assert convert_text(" 2.5 cm", "mm") == pytest.approx(25)


def test_different_things():
    with pytest.raises(ValueError, match="measure different things"):
        convert(1, "m", "kg")


def test_unknown():
    with pytest.raises(UnknownUnit, match="unknown unit parsec"):
        convert_text("1 parsec", "m")
