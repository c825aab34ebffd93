"""Hands events to handlers."""

from bus.report import Report


class Bus:
    def __init__(self):
        self._handlers = []

    def on(self, pattern, handler):
        self._handlers.append((pattern, handler))

    def off(self, handler):
        self._handlers = [pair for pair in self._handlers if pair[1] is not handler]

    async def _deliver(self, handler, event, report):
        try:
            handler(event)
        except Exception as error:
            report.failed(handler, error)
        else:
            report.delivered(handler)

    async def emit(self, event):
        """Runs every handler that listens; a Report of how they fared."""
        report = Report(event)
        for pattern, handler in list(self._handlers):
            if event.matches(pattern):
                await self._deliver(handler, event, report)
        return report
