"""Edits that people made: small changes of functions between one release of a package and the next."""
