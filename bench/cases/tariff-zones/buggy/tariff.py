"""What a parcel costs, in cents."""

PRICES = {
    "letter": {"home": 85, "europe": 110, "world": 170},
    "parcel": {"home": 549, "europe": 1749},
}


def price(kind, zone, count=1):
    """The price of `count` pieces; KeyError for what isn't carried."""
    if count < 1:
        raise ValueError("nothing to send")
    return count * PRICES[kind][zone]


def kinds(zone):
    """What is carried to a zone."""
    return sorted(kind for kind, zones in PRICES.items() if zone in zones)
