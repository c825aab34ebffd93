"""Edits that a model writes itself: asked for beside the tests, held to what the file and the language allow."""
