"""Reads what test runners of other languages print: one module a format."""
