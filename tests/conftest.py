"""What every test shares: a home of deskagent's own, so that no test touches the developer's sessions."""

from __future__ import annotations

import os
from pathlib import Path

import hypothesis
import pytest

if not Path("/dev/nvidiactl").exists():  # Triton asks once, when its kernels are imported
    os.environ.setdefault("TRITON_INTERPRET", "1")

# The same examples in every run, however busy the machine is; `--hypothesis-profile=default` looks for new ones.
hypothesis.settings.register_profile(
    "steady", derandomize=True, deadline=None, suppress_health_check=[hypothesis.HealthCheck.too_slow]
)
hypothesis.settings.load_profile("steady")


@pytest.fixture(scope="session", autouse=True)
def deskagent_home(tmp_path_factory: pytest.TempPathFactory):
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("DESKAGENT_HOME", str(tmp_path_factory.mktemp("deskagent-home")))
        patch.delenv("DESKAGENT_SANDBOX", raising=False)
        patch.setenv("DESKAGENT_MODEL", "none")
        yield
