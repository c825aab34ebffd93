import unittest

from difftool.lcs import operations, table


class LcsTest(unittest.TestCase):
    def test_length(self):
        self.assertEqual(table("abcd", "xbyd")[0][0], 2)

    def test_equal(self):
        self.assertEqual(list(operations("ab", "ab")), [(" ", "a"), (" ", "b")])

    def test_replaced(self):
        self.assertEqual(list(operations("a", "b")), [("-", "a"), ("+", "b")])

    def test_empty(self):
        self.assertEqual(list(operations("", "")), [])
