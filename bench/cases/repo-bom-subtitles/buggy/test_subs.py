import unittest

from subs.files import Subtitle, read, shift, write
from subs.times import parse, show

FILE = "1\n00:00:01,000 --> 00:00:02,500\nHello\n\n2\n00:01:00,000 --> 00:01:01,000\nBye\n"


class TimesTest(unittest.TestCase):
    def test_parse(self):
        self.assertEqual(parse("01:00:01,002"), 3601002)

    def test_parse_dot(self):
        self.assertEqual(parse("00:00:01.250"), 1250)

    def test_rubbish(self):
        for text in ["", "00:00", "00:00:01", "00:00:01,25", "00:00:01;250"]:
            with self.subTest(text), self.assertRaises(ValueError):
                parse(text)

    def test_show(self):
        self.assertEqual(show(3601002), "01:00:01,002")


class FilesTest(unittest.TestCase):
    def test_round_trip(self):
        self.assertEqual(write(read(FILE)), FILE)

    def test_read_with_dots(self):
        self.assertEqual(read(FILE.replace(",", "."))[0], Subtitle(1000, 2500, "Hello"))

    def test_shift(self):
        self.assertEqual([s.text for s in shift(read(FILE), -3000)], ["Bye"])
