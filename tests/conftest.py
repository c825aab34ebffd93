"""What every test shares: a home of deskagent's own, so that no test touches the developer's sessions."""

from __future__ import annotations

import pytest


@pytest.fixture(scope="session", autouse=True)
def deskagent_home(tmp_path_factory: pytest.TempPathFactory):
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("DESKAGENT_HOME", str(tmp_path_factory.mktemp("deskagent-home")))
        patch.delenv("DESKAGENT_SANDBOX", raising=False)
        yield
