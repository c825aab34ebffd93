"""Compares texts line by line."""
