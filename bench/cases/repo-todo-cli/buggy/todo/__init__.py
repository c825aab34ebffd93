"""A to-do list for the shell."""
