"""The stand-in server, and endpoints of every dialect."""

from __future__ import annotations

import asyncio
import importlib.util
import sys
from collections.abc import Callable, Coroutine
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from deskagent.providers.base import Capabilities
from deskagent.providers.endpoint import Endpoint
from deskagent.providers.http import Timing
from deskagent.providers.remote import Remote
from deskagent.providers.retry import Patience


def _load() -> ModuleType:
    """Tests are no package: the stand-in is loaded from beside this file, once."""
    if "standin" not in sys.modules:
        folder = Path(__file__).with_name("standin")
        spec = importlib.util.spec_from_file_location(
            "standin", folder / "__init__.py", submodule_search_locations=[str(folder)]
        )
        assert spec and spec.loader
        module = sys.modules["standin"] = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
    return sys.modules["standin"]


@pytest.fixture(scope="session")
def standin() -> ModuleType:
    return _load()


@pytest.fixture(scope="session")
def endpoint() -> Callable[..., Endpoint]:
    """An endpoint of a dialect; `can` are capabilities."""

    def made(dialect: str, base: str = "", can: dict[str, Any] | None = None, **more: Any) -> Endpoint:
        tiers = ("low", "high", "max")
        capabilities = Capabilities(**{"context": 100_000, "images": True, "tiers": tiers, **(can or {})})
        return Endpoint.of("here", "m", capabilities, dialect, base=base, **more)

    return made


@pytest.fixture(scope="session")
def remote(endpoint: Callable[..., Endpoint]) -> Callable[..., Remote]:
    """A provider of a dialect at a URL, that doesn't wait long."""

    def made(dialect: str, url: str, **more: Any) -> Remote:
        timing = more.pop("timing", Timing())
        patience = more.pop("patience", Patience(first=0.0, most=0.0))
        return Remote(endpoint(dialect, url, **more), timing=timing, patience=patience)

    return made


@pytest.fixture(scope="session")
def run() -> Callable[[Coroutine[Any, Any, Any]], Any]:
    """Runs a coroutine, with an end to a hang."""

    def go(work: Coroutine[Any, Any, Any]) -> Any:
        return asyncio.run(asyncio.wait_for(work, 60))

    return go
