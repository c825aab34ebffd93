"""What servers say when they fail, as kinds of trouble and as words that tell a person what to do."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from difflib import get_close_matches
from typing import Any

from deskagent.providers.base import ProviderError, Trouble
from deskagent.providers.endpoint import Endpoint

PASSING = frozenset({Trouble.BUSY, Trouble.NETWORK})
"""Troubles that asking again may end."""

_KINDS: dict[str, Trouble] = {
    "context_length_exceeded": Trouble.CONTEXT,
    "exceed_context_size_error": Trouble.CONTEXT,
    "request_too_large": Trouble.CONTEXT,
    "authentication_error": Trouble.AUTH,
    "invalid_authentication_error": Trouble.AUTH,
    "invalid_api_key": Trouble.AUTH,
    "permission_error": Trouble.AUTH,
    "billing_error": Trouble.AUTH,
    "insufficient_quota": Trouble.AUTH,
    "exceeded_current_quota_error": Trouble.AUTH,
    "model_not_found": Trouble.NO_MODEL,
    "not_found_error": Trouble.NO_MODEL,
    "resource_not_found_error": Trouble.NO_MODEL,
    "rate_limit_error": Trouble.BUSY,
    "rate_limit_exceeded": Trouble.BUSY,
    "rate_limit_reached_error": Trouble.BUSY,
    "overloaded_error": Trouble.BUSY,
    "engine_overloaded_error": Trouble.BUSY,
    "server_overloaded": Trouble.BUSY,
    "server_error": Trouble.BUSY,
    "internal_server_error": Trouble.BUSY,
    "api_error": Trouble.BUSY,
    "timeout_error": Trouble.BUSY,
    "insufficient_system_resource": Trouble.BUSY,
    "network_error": Trouble.NETWORK,
    "abort": Trouble.NETWORK,
    "error": Trouble.NETWORK,
    "invalid_request_error": Trouble.BAD_REQUEST,
}
_STATUS = {
    401: Trouble.AUTH,
    402: Trouble.AUTH,
    403: Trouble.AUTH,
    404: Trouble.NO_MODEL,
    413: Trouble.CONTEXT,
}
_STATUS |= dict.fromkeys((408, 409, 425, 429), Trouble.BUSY)

_TOO_LONG = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        r"maximum context length (?:is|of) (?P<limit>\d+).*?(?:requested|resulted in|at least|has) (?P<asked>\d+)",
        r"prompt is too long: (?P<asked>\d+) tokens > (?P<limit>\d+)",
        r"exceed context limit: (?P<asked>\d+ \+ \d+) > (?P<limit>\d+)",
        r"request \((?P<asked>\d+) tokens\) exceeds the available context size \((?P<limit>\d+)",
        r"model token limit: (?P<limit>\d+) \(requested: (?P<asked>\d+)",
        r"input \((?P<asked>\d+) tokens\) is longer than the model's context length \((?P<limit>\d+)",
        r"requested tokens \((?P<asked>\d+)\) exceed context window of (?P<limit>\d+)",
        r"maximum context length|context length exceeded|context window|available context size|prompt is too long"
        r"|exceeds? (?:the )?(?:model'?s? )?(?:context|token) limit|longer than the (?:model|maximum)",
    )
)


class Refused(ProviderError):
    """after: seconds that the server wants us to wait, None where it doesn't say."""

    def __init__(
        self, trouble: Trouble, message: str, *, hint: str = "", raw: bytes = b"", after: float | None = None
    ) -> None:
        super().__init__(trouble, message, hint=hint, raw=raw)
        self.after = after


def answered(status: int, body: bytes, endpoint: Endpoint, after: float | None = None) -> Refused:
    """The error that a response of `status` is."""
    error = _body(body)
    trouble = _trouble(status, error)
    said = _said(error) or body[:500].decode("utf-8", "replace").strip() or "nothing more"
    server = f"{endpoint.provider} ({endpoint.base or endpoint.dialect.base})"
    message, hint = _words(trouble, said, endpoint, server, status)
    return Refused(trouble, message, hint=hint, raw=body, after=after)


def reported(error: Any, data: str) -> Refused:
    """The error that a server sent in the middle of a stream."""
    fields = _flat(error)
    trouble = _trouble(0, fields)
    return Refused(trouble, f"The server ended the answer: {_said(fields) or data[:500]}", raw=data.encode())


def unknown_model(error: ProviderError, endpoint: Endpoint, names: Iterable[str]) -> ProviderError:
    """The same error with the names that the server does have, like ones first."""
    known = sorted(set(names))
    if not known or endpoint.model in known:
        return error
    near = get_close_matches(endpoint.model, known, n=5, cutoff=0.4)
    shown = [*near, *(name for name in known if name not in near)][:12]
    more = f", and {len(known) - len(shown)} more" if len(known) > len(shown) else ""
    return Refused(error.trouble, error.message, hint=f"It has: {', '.join(shown)}{more}.", raw=error.raw)


def _body(body: bytes) -> dict[str, str]:
    try:
        found = json.loads(body)
    except (ValueError, RecursionError):
        return {}
    if isinstance(found, list) and found:  # some proxies wrap it
        found = found[0]
    if not isinstance(found, dict):
        return {}
    for key in ("error", "detail", "errors"):
        if found.get(key):
            return _flat(found[key]) | {"outer": str(found.get("type", ""))}
    return _flat(found)


def _flat(error: Any) -> dict[str, str]:
    if isinstance(error, Mapping):
        inner = error.get("error")
        more = _flat(inner) if isinstance(inner, Mapping) else {}
        return {str(key): str(value) for key, value in error.items() if value is not None} | more
    if isinstance(error, list):
        return {
            "message": "; ".join(
                str(one.get("msg", one) if isinstance(one, Mapping) else one) for one in error
            )
        }
    return {"message": str(error)}


def _said(error: Mapping[str, str]) -> str:
    return error.get("message") or error.get("msg") or error.get("detail") or ""


def _trouble(status: int, error: Mapping[str, str]) -> Trouble:
    said = _said(error)
    if any(pattern.search(said) for pattern in _TOO_LONG):
        return Trouble.CONTEXT
    named = [_KINDS[error[key]] for key in ("code", "type") if error.get(key) in _KINDS]
    special = next((kind for kind in named if kind is not Trouble.BAD_REQUEST), None)
    if special is Trouble.AUTH or (special and status in (0, 200, 400, 404, 429, 500)):
        return special
    if status >= 500:
        return Trouble.BUSY
    if status in _STATUS:
        return _STATUS[status]
    return special or (Trouble.BAD_REQUEST if status or named else Trouble.BROKEN)


def _words(trouble: Trouble, said: str, endpoint: Endpoint, server: str, status: int) -> tuple[str, str]:
    """What went wrong, and what to do."""
    model = endpoint.model
    match trouble:
        case Trouble.AUTH:
            if not endpoint.key:
                return (
                    f"{server} wants a key, and there is none: {said}",
                    f"Give one: deskagent model add {endpoint.provider}",
                )
            return (
                f"{server} refuses the key or the account: {said}",
                "Is the key right, and is there credit?",
            )
        case Trouble.NO_MODEL:
            return (
                f"{server} has no model {model}: {said}",
                "See deskagent model list, and look at the base URL.",
            )
        case Trouble.CONTEXT:
            found = next((hit for pattern in _TOO_LONG if (hit := pattern.search(said))), None)
            numbers = found.groupdict() if found else {}
            if numbers.get("asked"):
                said = f"{numbers['asked']} tokens, and it takes {numbers['limit']}"
            return f"The conversation is too long for {model}: {said}", "Make it shorter: /compact."
        case Trouble.BUSY:
            return (
                f"{server} is busy or out of order (HTTP {status}): {said}",
                "Try again later, or another model.",
            )
        case _ if 300 <= status < 400:
            return (
                f"{server} points elsewhere, and keys aren't sent after it (HTTP {status}).",
                "Set the new base URL.",
            )
        case _:
            return f"{server} refused the request (HTTP {status}): {said}", ""
