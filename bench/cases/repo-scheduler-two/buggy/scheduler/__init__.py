"""A scheduler with a clock that tests can turn."""
