"""The exact definition of every kernel, in plain torch: slow, readable, and what the others are held to."""
