import pytest

from stock import OutOfStock, Stock


@pytest.fixture
def stock():
    stock = Stock()
    stock.receive("pen", 10)
    return stock


def test_receive_adds(stock):
    assert stock.receive("pen", 5).on_hand == 15


def test_receive_settles_orders(stock):
    stock.order("pen", 3)
    assert stock.receive("pen", 2).ordered == 1


def test_reserve_reduces_available(stock):
    stock.reserve("pen", 4)
    assert stock.items["pen"].available == 6
    assert stock.items["pen"].on_hand == 10


def test_cannot_reserve_more_than_on_hand(stock):
    with pytest.raises(OutOfStock, match="10 left, 11 wanted"):
        stock.reserve("pen", 11)


def test_cannot_reserve_twice(stock):
    stock.reserve("pen", 7)
    with pytest.raises(OutOfStock, match="3 left, 4 wanted"):
        stock.reserve("pen", 4)
    assert stock.items["pen"].reserved == 7


def test_ship(stock):
    stock.reserve("pen", 4)
    stock.ship("pen", 3)
    item = stock.items["pen"]
    assert (item.on_hand, item.reserved, item.available) == (7, 1, 6)


def test_ship_unreserved(stock):
    with pytest.raises(OutOfStock):
        stock.ship("pen", 1)
