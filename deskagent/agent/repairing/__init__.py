"""Models at a repair: conversations in copies of the project, and small models that are asked narrow questions."""
