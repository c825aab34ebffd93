"""A model server that plays a script, refuses what real servers refuse, and breaks where it is told to."""

from __future__ import annotations

from .play import Turn, events, frames
from .server import Recorded, Reply, Standin
from .strict import KINDS, Rejected, check

__all__ = ["KINDS", "Recorded", "Rejected", "Reply", "Standin", "Turn", "check", "events", "frames"]
