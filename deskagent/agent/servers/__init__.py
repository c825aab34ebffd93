"""MCP servers of a conversation: those that the person names, and those of a trusted project once they are approved."""
