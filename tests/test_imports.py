"""The direction of imports: cli → agent → {session, providers, tools, repair} → {repo, terminal}; nothing back."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
BASE = {"errors", "messages", "paths"}
LAYERS: dict[str, set[str]] = {
    "errors": set(),
    "messages": set(),
    "paths": set(),
    "licences": BASE,
    "served": BASE | {"licences"},
    "terminal": BASE,
    "repo": BASE | {"terminal"},
    "session": BASE | {"repo", "terminal"},
    "providers": BASE | {"served", "session", "terminal"},
    "tools": BASE | {"providers", "repair", "repo", "terminal"},
    "repair": BASE | {"repo", "served", "terminal"},
    "agent": BASE | {"session", "providers", "tools", "repair", "repo", "terminal"},
    "imports": BASE | {"agent", "session"},
    "cli": BASE
    | {"imports", "licences", "agent", "session", "providers", "tools", "repair", "repo", "terminal"},
}
MAY_USE_THE_ENGINE = {"cli", "providers", "repair", "served"}
HEAVY = {"torch", "numpy", "textual", "openai", "anthropic"}


def imports(path: Path) -> set[str]:
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative import"
            found |= {node.module or ""} | {f"{node.module}.{alias.name}" for alias in node.names}
    return found


def modules(top: str) -> list[Path]:
    return sorted((ROOT / top).rglob("*.py"))


@pytest.mark.parametrize("path", modules("deskagent"), ids=lambda p: str(p.relative_to(ROOT)))
def test_no_module_leans_the_wrong_way(path: Path) -> None:
    parts = path.relative_to(ROOT / "deskagent").with_suffix("").parts
    layer = parts[0]
    if layer in ("__init__", "__main__"):
        return
    assert layer in LAYERS, f"a new layer {layer}: say in LAYERS what it may import"
    used = {name.split(".")[1] for name in imports(path) if name.startswith("deskagent.")} - {"__version__"}
    assert used - {layer} <= LAYERS[layer]


@pytest.mark.parametrize("path", modules("deskagent"), ids=lambda p: str(p.relative_to(ROOT)))
def test_the_engine_is_imported_where_it_is_used(path: Path) -> None:
    """Inside functions of a few layers: everything else works, and starts, without it."""
    tree = ast.parse(path.read_text("utf-8"))
    functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]
    lazy = {id(inner) for function in functions for inner in ast.walk(function)}
    typed = [
        node for node in tree.body if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"
    ]
    lazy |= {id(inner) for block in typed for inner in ast.walk(block)}
    for node in ast.walk(tree):
        modules_ = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
        modules_ += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
        if any(name.split(".")[0] in {"engine", "kernels", "torch"} for name in modules_):
            assert path.relative_to(ROOT / "deskagent").with_suffix("").parts[0] in MAY_USE_THE_ENGINE
            assert id(node) in lazy


UI_MAY_USE = BASE | {"agent", "cli", "providers", "repair", "repo", "session", "terminal", "tools"}


@pytest.mark.parametrize("path", modules("ui"), ids=lambda p: str(p.relative_to(ROOT)))
def test_the_app_leans_on_what_stands_below_it(path: Path) -> None:
    used = {name.split(".")[1] for name in imports(path) if name.startswith("deskagent.")} - {"__version__"}
    assert used <= UI_MAY_USE


@pytest.mark.parametrize("path", modules("ui/log"), ids=lambda p: str(p.relative_to(ROOT)))
def test_what_is_shown_is_made_without_textual(path: Path) -> None:
    assert not any(name.split(".")[0] in {"textual", "rich"} for name in imports(path))


@pytest.mark.parametrize("path", modules("deskagent"), ids=lambda p: str(p.relative_to(ROOT)))
def test_only_the_command_that_opens_the_app_knows_it(path: Path) -> None:
    used = any(name.split(".")[0] == "ui" for name in imports(path))
    assert not used or path.relative_to(ROOT / "deskagent") == Path("cli/tui.py")


@pytest.mark.parametrize("top", ["engine", "kernels"])
def test_the_engine_knows_nothing_of_agents(top: str) -> None:
    for path in modules(top):
        assert not any(name.split(".")[0] in {"deskagent", "ui"} for name in imports(path)), path


def test_the_command_line_imports_nothing_heavy() -> None:
    code = "import sys; from deskagent.cli import app, fix, doctor, model, sessions; print(*sys.modules)"
    loaded = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    ).stdout.split()
    assert "deskagent.cli.fix" in loaded
    assert not HEAVY & set(loaded)


@pytest.mark.parametrize(
    "start", [[sys.executable, "-m", "deskagent"], [str(Path(sys.executable).with_name("deskagent"))]]
)
def test_a_repository_with_our_folder_names_is_not_imported(tmp_path: Path, start: list[str]) -> None:
    for name in ("engine", "kernels", "ui", "click", "rich", "msgspec"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "__init__.py").write_text("open('canary', 'w')\nraise SystemExit(99)\n")
    env = os.environ | {"DESKAGENT_HOME": str(tmp_path / "home")}
    done = subprocess.run([*start, "doctor"], cwd=tmp_path, env=env, capture_output=True, text=True)
    assert done.returncode in (0, 1), done.stderr
    assert not (tmp_path / "canary").exists()
