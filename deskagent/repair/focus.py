"""Which of the failing tests the request is about."""

from __future__ import annotations

import re
from dataclasses import replace

from deskagent.repair.types import Baseline


def asked_for(request: str, baseline: Baseline) -> Baseline:
    """The baseline without the failing tests that the request doesn't name, where it names some: others may fail
    for reasons of their own."""
    said = set(re.split(r"[\s,;`'\"]+", request))
    named = {r.id for r in baseline.failing if r.id and (r.id in request or _short(r.id) in said)}
    if not named:
        return baseline
    return replace(baseline, results=tuple(r for r in baseline.results if not r.outcome.bad or r.id in named))


def _short(test: str) -> str:
    """The function of a test's id; all of an id whose last part may be any word of a request."""
    last = re.split(r"::|\.", test.partition("[")[0])[-1]
    return last if "test" in last.lower() else test
