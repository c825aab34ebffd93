"""An event bus for asyncio."""

from bus.core import Bus
from bus.events import Event

__all__ = ["Bus", "Event"]
