import unittest

from calc.scan import scan


class ScanTest(unittest.TestCase):
    def test_scan(self):
        self.assertEqual(scan("1+2.5 "), [1.0, "+", 2.5])

    def test_empty(self):
        self.assertEqual(scan(""), [])
