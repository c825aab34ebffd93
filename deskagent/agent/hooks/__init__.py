"""Commands of the person, or of a project they trust, that run at certain moments of a conversation."""
