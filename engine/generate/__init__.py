"""From logits to text: sampling, stopping, grammars, speculation, and who computes when."""
