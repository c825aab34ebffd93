"""Part numbers."""


def normal(number):
    """The form in which a part number is stored."""
    number = number.upper()
    if not number:
        raise ValueError("empty part number")
    return number


def family(number):
    """The part of a number before the first dash."""
    return normal(number).split("-")[0]
