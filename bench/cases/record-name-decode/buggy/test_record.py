import unittest

from record import Record, find, read_all


class RecordTest(unittest.TestCase):
    def setUp(self):
        self.data = Record("ann", 7).to_bytes() + Record("zoë", 8).to_bytes() + Record("bob", 9, False).to_bytes()

    def test_size(self):
        self.assertEqual(len(self.data), 63)

    def test_numbers(self):
        self.assertEqual([record.number for record in read_all(self.data)], [7, 8, 9])

    def test_names(self):
        self.assertEqual([record.name for record in read_all(self.data)], ["ann", "zoë", "bob"])

    def test_find(self):
        self.assertEqual(find(self.data, "zoë").number, 8)

    def test_find_inactive(self):
        self.assertIsNone(find(self.data, "bob"))

    def test_cut_off(self):
        with self.assertRaises(ValueError):
            read_all(self.data[:-1])

    def test_long_name(self):
        with self.assertRaises(ValueError):
            Record("x" * 17, 1).to_bytes()
