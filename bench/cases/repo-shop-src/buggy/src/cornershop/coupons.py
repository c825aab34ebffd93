"""Coupons: what they take off, in cents."""

PERCENT = {"SPRING": 10, "STAFF": 25}
FIXED = {"FIVER": 500}


class UnknownCoupon(ValueError):
    pass


def discount(code: str | None, total: int) -> int:
    """Cents off a total; never more than the total."""
    if code is None:
        return 0
    if code in PERCENT:
        return total * PERCENT[code] // 100
    if code in FIXED:
        return min(FIXED[code], total)
    raise UnknownCoupon(code)
