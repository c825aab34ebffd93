"""What the index knows is told, and kept up with what was saved."""

from __future__ import annotations

from pathlib import Path

import pytest

from deskagent.tools.base import ToolError
from deskagent.tools.symbols import Symbols, SymbolsArguments


@pytest.fixture(autouse=True)
def files(project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DESKAGENT_HOME", str(tmp_path / "home"))
    (project / "shop.py").write_text(
        "class Basket:\n    def total(self, items):\n        return add(items)\n"
    )
    (project / "sums.py").write_text("def add(items):\n    return sum(items)\n")


def ask(context, do: str, name: str = "") -> object:
    return Symbols().run(SymbolsArguments(do=do, name=name), context)


def test_definitions_references_callers_and_names(context, text) -> None:
    assert text(ask(context, "definitions", "add")).startswith("sums.py:1-2: function add")
    assert "shop.py:3: call in Basket.total" in text(ask(context, "references", "add"))
    assert text(ask(context, "callers", "add")).startswith("shop.py:2: Basket.total at 3")
    assert "Basket" in text(ask(context, "names", "aske"))
    assert "def total" in text(ask(context, "map"))


def test_what_was_saved_since_is_known(context, project: Path, text) -> None:
    ask(context, "map")
    (project / "new.py").write_text("def subtract(a, b):\n    return a - b\n")
    assert "new.py:1" in text(ask(context, "definitions", "subtract"))
    assert "subtract" in text(ask(context, "definitions", "substract"))


def test_what_is_not_there_and_what_is_not_said(context, text) -> None:
    assert text(ask(context, "references", "nowhere_at_all")) == "Nothing is known by that name."
    with pytest.raises(ToolError, match="needs a name"):
        Symbols().wish(SymbolsArguments(do="callers"), context)
