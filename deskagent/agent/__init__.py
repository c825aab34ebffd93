"""The agent: the loop, its budgets and permissions."""
