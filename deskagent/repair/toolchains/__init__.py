"""Test runners of other languages, as far as they can be told what to run: one module each."""
