"""Exact fractions."""


def gcd(a, b):
    while b:
        a, b = b, a % b
    return abs(a)


class Fraction:
    def __init__(self, top, bottom=1):
        if bottom == 0:
            raise ZeroDivisionError("fraction with denominator 0")
        if bottom < 0:
            top, bottom = -top, -bottom
        common = gcd(top, bottom)
        self.top = top // common
        self.bottom = bottom // common

    def __eq__(self, other):
        return (self.top, self.bottom) == (other.top, other.bottom)

    def __repr__(self):
        return f"{self.top}/{self.bottom}"

    def __mul__(self, other):
        return Fraction(self.top * other.top, self.bottom * other.bottom)

    def __add__(self, other):
        return Fraction(self.top * other.bottom + other.top * self.bottom, self.bottom * other.bottom)

    def inverse(self):
        return Fraction(self.bottom, self.top)

    def power(self, exponent):
        """The fraction to a whole power, by repeated squaring."""
        if exponent < 0:
            return self.inverse().power(-exponent)
        if exponent == 0:
            return Fraction(1)
        half = self.power(exponent // 2)
        square = half * half
        return square * self if exponent % 2 else square
