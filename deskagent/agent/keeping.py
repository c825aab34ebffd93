"""When what a session comes to is kept beside its events, so that it opens fast however long it is."""

from __future__ import annotations

from deskagent.agent.opened import Opened
from deskagent.agent.past import Reading
from deskagent.session.history import History
from deskagent.session.journal import Journal
from deskagent.session.summary import Summing

VIEWS = (History, Reading, Opened, Summing)
EVERY = 500
"""Events after which it is kept anew: so many at most are read when it is opened."""
_WORTH = 100
"""Events from which on it is kept at the end of a run."""


def keep(journal: Journal, after: int = _WORTH) -> None:
    """Keeps it, where more than `after` events came since it was kept last. The session is open for writing."""
    if journal.seq - (journal.kept.mark.seq if journal.kept else 0) > after:
        journal.keep(VIEWS)
