import pytest

from orders import BadTransition, Order


def test_normal_life():
    order = Order(1)
    order.pay()
    order.ship()
    assert order.history == ["new", "paid", "shipped"]
    assert order.done


def test_pause_and_resume():
    order = Order(1)
    order.pay()
    order.pause()
    order.resume()
    assert order.state == "paid"


@pytest.mark.parametrize("steps", [[], ["pay"], ["pay", "pause"]])
def test_cancel(steps):
    order = Order(1)
    for step in steps:
        getattr(order, step)()
    order.cancel()
    assert order.done


@pytest.mark.parametrize("last", ["ship", "cancel"])
def test_finished_orders_stay(last):
    order = Order(1)
    order.pay()
    getattr(order, last)()
    with pytest.raises(BadTransition):
        order.cancel()


def test_paused_order_is_not_shipped():
    order = Order(1)
    order.pay()
    order.pause()
    with pytest.raises(BadTransition, match="cannot ship an order that is paused"):
        order.ship()
