"""Regressions: when the tests were last green, and which of the changes since then makes them fail."""
