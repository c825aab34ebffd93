"""Which installed programs find problems in which files, and where they lie."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

_OWN = (".venv/bin", "venv/bin", "node_modules/.bin")
"""Folders of a project that hold its own tools."""


@dataclass(frozen=True, slots=True)
class Speaks:
    """A language server. language: as it is called in its protocol. options: told at its start."""

    argv: tuple[str, ...]
    language: str
    options: Mapping[str, object] | None = None


_PYTHON = (Speaks(("pyright-langserver", "--stdio"), "python"), Speaks(("pylsp",), "python"))
_SCRIPT = ("typescript-language-server", "--stdio")
_C = (Speaks(("clangd", "--background-index=false"), "cpp"),)
_RUST = {"checkOnSave": False, "cargo": {"buildScripts": {"enable": False}}, "procMacro": {"enable": False}}
SERVERS: Mapping[str, tuple[Speaks, ...]] = {
    ".py": _PYTHON,
    ".pyi": _PYTHON,
    ".go": (Speaks(("gopls",), "go"),),
    ".rs": (Speaks(("rust-analyzer",), "rust", _RUST),),
    ".ts": (Speaks(_SCRIPT, "typescript"),),
    ".tsx": (Speaks(_SCRIPT, "typescriptreact"),),
    ".js": (Speaks(_SCRIPT, "javascript"),),
    ".jsx": (Speaks(_SCRIPT, "javascriptreact"),),
    **dict.fromkeys((".c", ".h", ".cc", ".cpp", ".hpp", ".cxx"), _C),
}
"""By a file's ending; the first that is installed serves."""


def search_path(project: Path, env: Mapping[str, str], *, trusted: bool) -> str:
    """A PATH with the project's own tools in front where it is trusted, and with nothing of the project where not."""
    given = [Path(folder) for folder in env.get("PATH", "").split(os.pathsep) if folder.startswith("/")]
    if trusted:
        return os.pathsep.join(map(str, [*(project / own for own in _OWN), *given]))
    return os.pathsep.join(str(folder) for folder in given if not folder.resolve().is_relative_to(project))
