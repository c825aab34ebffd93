import pytest

from cornershop.coupons import UnknownCoupon, discount


def test_percent():
    assert discount("SPRING", 1000) == 100


def test_fixed():
    assert discount("FIVER", 300) == 300


def test_none():
    assert discount(None, 300) == 0


def test_unknown():
    with pytest.raises(UnknownCoupon):
        discount("AUTUMN", 1)
