"""The Textual app: a reader of the session log and a sender of commands."""
