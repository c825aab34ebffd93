"""Prices and orders of a corner shop."""

from cornershop.orders import Line, Order
from cornershop.pricing import price

__all__ = ["Line", "Order", "price"]
