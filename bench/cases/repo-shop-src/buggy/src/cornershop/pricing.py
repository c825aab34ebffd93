"""What an order costs."""

from __future__ import annotations

from cornershop.coupons import discount
from cornershop.orders import Order

TAX = 20
FREE_DELIVERY = 5_000
DELIVERY = 490


def delivery(total: int) -> int:
    return 0 if total >= FREE_DELIVERY else DELIVERY


def private_price(order: Order) -> int:
    """Prices for private customers hold the tax already."""
    total = order.total
    total -= discount(order.coupon, total)
    return total + delivery(total)


def business_price(order: Order) -> int:
    """Business customers pay without tax."""
    total = order.total
    total = total * 100 // (100 + TAX)
    return total + delivery(total)


def price(order: Order) -> int:
    """Cents to pay, delivery included."""
    if not order.lines:
        return 0
    return business_price(order) if order.business else private_price(order)
