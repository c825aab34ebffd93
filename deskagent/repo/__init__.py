"""The repository: git reads, scratch copies, and the index."""
