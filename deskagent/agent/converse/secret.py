"""Secrets of this machine's environment are taken out of what tools tell, before anything of it is kept or sent.

Only the very values are: what merely looks like a secret may be a line that the model has to edit exactly.
"""

from __future__ import annotations

import os
from collections.abc import Mapping

from deskagent.messages import Part, Result, Text
from deskagent.session.redact import secret_values

_SHORTEST = 12
"""Characters: a shorter value may be an ordinary word, which would be missed all over the project's files."""


def without_secrets(result: Result, environment: Mapping[str, str] = os.environ) -> Result:
    """`result` with a mark in place of each such value."""
    values = [value for value in secret_values(environment) if len(value) >= _SHORTEST]
    told = tuple(_clean(part, values) for part in result.content)
    return result if told == result.content else Result(result.outcome, told)


def _clean(part: Part, values: list[str]) -> Part:
    if not isinstance(part, Text):
        return part
    text = part.text
    for value in values:
        text = text.replace(value, "[redacted: environment]")
    return Text(text)
