"""When what a session comes to is kept beside its events, so that it opens fast however long it is."""

from __future__ import annotations

import logging

from deskagent.agent.opened import Opened
from deskagent.agent.past import Reading
from deskagent.errors import DeskagentError
from deskagent.session import away
from deskagent.session.history import History
from deskagent.session.journal import Journal
from deskagent.session.summary import Summing

_log = logging.getLogger(__name__)

VIEWS = (History, Reading, Opened, Summing)
EVERY = 500
"""Events after which it is kept anew: so many at most are read when it is opened."""
_WORTH = 100
"""Events from which on it is kept at the end of a run."""


def close(journal: Journal) -> None:
    """At the end of a run: what it comes to is kept, and finished segments go where the person wants them. What can't
    be done now is done after another run."""
    keep(journal)
    try:
        if url := away.where():
            journal.roll(url)
    except DeskagentError as error:
        _log.warning("segments stay on the disk: %s", error.message)


def keep(journal: Journal, after: int = _WORTH) -> None:
    """Keeps it, where more than `after` events came since it was kept last. The session is open for writing."""
    if journal.seq - (journal.kept.mark.seq if journal.kept else 0) > after:
        journal.keep(VIEWS)
