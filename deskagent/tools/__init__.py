"""What a model can do: a tool a file, each a class with its typed arguments and its words to the model."""
