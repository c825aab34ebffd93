"""What real servers refuse, as far as requests of ours could hold it.

Each rule says what a server says, shortened; tests/providers/test_strict.py names public threads that report them.
Nothing here knows deskagent's code.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

from . import strict_chat, strict_messages, strict_responses
from .rules import Rejected, clean_json

KINDS: Mapping[str, Callable[[dict[str, Any]], None]] = {
    "openai": strict_chat.openai,
    "kimi": strict_chat.kimi,
    "template": strict_chat.template,
    "responses": strict_responses.check,
    "anthropic": strict_messages.adaptive,
    "anthropic-budget": strict_messages.budget,
}


def check(kind: str, body: bytes) -> dict[str, Any]:
    """The request, where a server of that kind takes it. Errors: Rejected."""
    clean_json(body)
    found = json.loads(body)
    KINDS[kind](found)
    return found


__all__ = ["KINDS", "Rejected", "check"]
