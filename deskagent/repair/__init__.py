"""The repair search: localise, make candidates, rank, verify."""
