"""Finds sums of money in texts."""

import re

AMOUNT = re.compile(r"([$€£])(\d+(?:\.\d{2})?)(?!\d)")

NAMES = {"$": "USD", "€": "EUR", "£": "GBP"}


def amounts(text):
    """(currency, cents) of every price in `text`, in order."""
    found = []
    for match in AMOUNT.finditer(text):
        sign, number = match.groups()
        whole, _, cents = number.partition(".")
        found.append((NAMES[sign], int(whole) * 100 + int(cents or 0)))
    return found


def totals(text):
    """currency → sum in cents."""
    sums = {}
    for currency, cents in amounts(text):
        sums[currency] = sums.get(currency, 0) + cents
    return sums


def mask(text):
    """`text` with every price blacked out."""
    return AMOUNT.sub(lambda match: match.group(1) + "***", text)
