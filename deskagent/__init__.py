"""deskagent: a coding agent for one developer's workstation."""

__version__ = "0.1.0"
