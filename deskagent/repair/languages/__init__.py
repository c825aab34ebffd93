"""Repairs in languages other than Python: a table a language over machinery that they share."""
