"""Trains `mini`: a corpus, its tokens, tasks, and the loop. Only this part of the engine computes gradients."""
