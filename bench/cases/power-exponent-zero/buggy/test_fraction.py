import unittest

from fraction import Fraction


class FractionTest(unittest.TestCase):
    def test_reduced(self):
        self.assertEqual(repr(Fraction(6, -8)), "-3/4")

    def test_zero_denominator(self):
        with self.assertRaises(ZeroDivisionError):
            Fraction(1, 0)

    def test_multiply(self):
        self.assertEqual(Fraction(2, 3) * Fraction(3, 4), Fraction(1, 2))

    def test_add(self):
        self.assertEqual(Fraction(1, 2) + Fraction(1, 3), Fraction(5, 6))

    def test_inverse(self):
        self.assertEqual(Fraction(2, 3).inverse(), Fraction(3, 2))

    def test_inverse_of_zero(self):
        with self.assertRaises(ZeroDivisionError):
            Fraction(0).inverse()

    def test_power_zero(self):
        self.assertEqual(Fraction(2, 3).power(0), Fraction(1))

    def test_power(self):
        self.assertEqual(Fraction(2, 3).power(3), Fraction(8, 27))

    def test_negative_power(self):
        self.assertEqual(Fraction(2, 3).power(-2), Fraction(9, 4))
