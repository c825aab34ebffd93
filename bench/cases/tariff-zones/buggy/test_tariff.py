import pytest

from tariff import price


def test_letters():
    assert price("letter", "home") == 85
    assert price("letter", "world", 2) == 340


def test_parcels_at_home():
    assert price("parcel", "home") == 549


def test_parcels_to_the_world():
    assert price("parcel", "world") == 4699


def test_nothing():
    with pytest.raises(ValueError):
        price("letter", "home", 0)


def test_unknown():
    with pytest.raises(KeyError):
        price("letter", "moon")
