"""A conversation in which a model drives the tools: the loop, what it asks, what it lets happen, when it stops."""
