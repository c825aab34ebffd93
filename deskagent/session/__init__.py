"""Sessions on disk: typed events in an append-only journal, and the readers of it."""
