"""Tools of MCP servers: processes and HTTP services that a person, or a project that they trust, names."""
