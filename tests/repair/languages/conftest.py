"""Candidates for one source text, by the whole of the ranking."""

from __future__ import annotations

import pytest

from deskagent.repair.rank import iter_candidates
from deskagent.repair.source import SourceFile
from deskagent.repair.types import Suspect


@pytest.fixture
def edits_of():
    def edits_of(path, text, line, request=""):
        """Resulting text → operator, for the candidates of one line."""
        source = SourceFile.from_bytes(path, text.encode())
        found = iter_candidates(lambda _: source, [Suspect(path, line, 1.0)], request=request)
        return {source.apply(c.edits).decode(): c.operator for c in found}

    return edits_of
