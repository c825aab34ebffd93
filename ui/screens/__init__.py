"""Screens that come up over the conversation, a screen a file."""
