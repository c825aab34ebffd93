"""Bugs put into code, in place, and the questions and answers that are learnt from them."""
