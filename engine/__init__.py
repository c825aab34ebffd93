"""The inference engine: generate, score and embed over token ids and images. Knows nothing of agents."""
