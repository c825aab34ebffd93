"""What an edit broke, by the linters and language servers that are installed: told with the edit's result."""
