import unittest

from calc import evaluate
from calc.problems import MathProblem, SyntaxProblem


class EvaluateTest(unittest.TestCase):
    def test_levels(self):
        self.assertEqual(evaluate("2 + 3 * 4"), 14)

    def test_left_to_right(self):
        self.assertEqual(evaluate("10 - 3 - 2"), 5)

    def test_brackets(self):
        self.assertEqual(evaluate("(2 + 3) * 4"), 20)

    def test_power(self):
        self.assertEqual(evaluate("2 ^ 3 ^ 2"), 512)

    def test_negative_number(self):
        self.assertEqual(evaluate("-3 + 5"), 2)

    def test_negative_power(self):
        self.assertEqual(evaluate("-2 ^ 2"), -4)

    def test_negative_brackets(self):
        self.assertEqual(evaluate("-(2 + 3)"), -5)

    def test_double_minus(self):
        self.assertEqual(evaluate("1 - -1"), 2)

    def test_division_by_zero(self):
        with self.assertRaisesRegex(MathProblem, "division by zero"):
            evaluate("1 / 0")


class SyntaxTest(unittest.TestCase):
    def test_unexpected(self):
        for text in ["1 +", "(1", "1 1", ")", "1 $ 2"]:
            with self.subTest(text), self.assertRaises(SyntaxProblem):
                evaluate(text)
