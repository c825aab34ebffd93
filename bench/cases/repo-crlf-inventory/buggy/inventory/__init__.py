"""Counts parts in a warehouse."""
