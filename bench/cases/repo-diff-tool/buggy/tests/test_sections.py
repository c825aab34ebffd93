import unittest

from difftool.sections import render, sections, summary


class SectionsTest(unittest.TestCase):
    def test_equal(self):
        self.assertEqual(sections(["a"], ["a"]), [])

    def test_at_the_end(self):
        self.assertEqual(sections(["a", "b"], ["a", "c"]), [["-b", "+c"]])

    def test_at_the_start(self):
        self.assertEqual(sections(["a", "b"], ["b"]), [["-a"]])

    def test_two(self):
        self.assertEqual(sections(list("abc"), list("xbz")), [["-a", "+x"], ["-c", "+z"]])

    def test_render(self):
        self.assertEqual(render("a\nb\nc", "b\nc\nd"), "-a\n---\n+d")

    def test_summary(self):
        self.assertEqual(summary("a\nb\nc", "b\nx"), (1, 2))
