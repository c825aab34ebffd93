"""The side panel's panes: what each reads of the session's log, and the widget that shows it.

A new pane is a file here and a line in `PANES`. A pane's reader is made when a session is opened, reads all its events
in order, on another thread than the app's, and then gets new ones on the app's thread, a batch at a time. The widget
gets it when the side panel is opened for the first time; from there the widget's `fresh` is called after each batch.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any

from ui.log.facts import Facts
from ui.panes.base import Pane, Session

__all__ = ["PANES", "Pane", "Session"]


def _of(module: str, name: str) -> Callable[..., Any]:
    """Makes one of a class that is imported with the first one: by then the app is on the screen."""
    return lambda *given: getattr(importlib.import_module(f"ui.panes.{module}"), name)(*given)


PANES: tuple[Pane, ...] = (
    Pane("changes", "Changes", _of("readers", "ReviewReader"), _of("joined", "Changes")),
    Pane("plan", "Plan", _of("plan", "PlanReader"), _of("plan", "PlanPane")),
    Pane("terminals", "Terminal", _of("readers", "NoReader"), _of("joined", "Terminals")),
    Pane("pictures", "Pictures", _of("readers", "PicturesReader"), _of("picturing", "Pictures")),
    Pane("meter", "Context", Facts, _of("joined", "Meter")),
)
"""In the order of their tabs."""
