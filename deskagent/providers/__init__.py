"""Models behind one interface: ours, GGUF files, and servers that speak OpenAI's or Anthropic's API."""
