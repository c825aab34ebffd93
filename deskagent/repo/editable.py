"""Whether a project's editable installs can be led to a copy of it by PYTHONPATH, and by which folders.

Only files are read. A `.pth` line that is a path comes after PYTHONPATH, so the copy wins; so do import hooks
that are appended to `sys.meta_path` (setuptools, `editables`), if they map a name to a folder of that name.
Hooks that go first, or map a package to a folder of another name, can't be outrun: those are refused.
"""

from __future__ import annotations

import ast
import os
import re
from collections.abc import Iterator
from pathlib import Path

from deskagent.errors import UsageError

_LIMIT = 1 << 20  # bytes read of a .pth or a hook
_IMPORT = re.compile(r"\bimport\s+([A-Za-z_][\w.]*)")


def check_editable(project: Path, interpreter: Path) -> tuple[Path, ...]:
    """Project-relative folders to put on PYTHONPATH so that a copy is imported in place of `project`.

    Empty where the interpreter has no editable install of it. UsageError, saying why, where an install can't
    be redirected.
    """
    found: list[Path] = []
    for site in site_packages(interpreter):
        for pth in sorted(site.glob("*.pth")):
            found += _from_pth(pth, project, interpreter)
    return tuple(dict.fromkeys(path.relative_to(project) for path in found))


def site_packages(interpreter: Path) -> tuple[Path, ...]:
    """The folders whose `.pth` files `interpreter` reads, told from the files around it."""
    real = interpreter.resolve()
    version = re.fullmatch(r"python(3\.\d+)t?", real.name)
    python = f"python{version[1]}" if version else "python3*"
    prefixes = [interpreter.parent.parent, real.parent.parent]
    settings = next((s for p in prefixes[:1] if (s := p / "pyvenv.cfg").is_file()), None)
    if settings:
        shared = re.search(r"(?im)^\s*include-system-site-packages\s*=\s*true", _read(settings))
        prefixes = prefixes if shared else prefixes[:1]
    folders: list[Path] = []
    for prefix in prefixes:
        for kind in ("site-packages", "dist-packages"):
            folders += prefix.glob(f"lib*/{python}/{kind}")
        if str(prefix) == "/usr":
            folders += [
                *Path("/usr/local/lib").glob(f"{python}/dist-packages"),
                Path("/usr/lib/python3/dist-packages"),
            ]
    if len(prefixes) > 1 or not settings:
        folders += (Path.home() / ".local/lib").glob(f"{python}/site-packages")
    return tuple(dict.fromkeys(folder for folder in folders if folder.is_dir()))


def _from_pth(pth: Path, project: Path, interpreter: Path) -> Iterator[Path]:
    text = _read(pth)
    for line in text.splitlines():
        if line.startswith("#") or not line.strip():
            continue
        if not line.startswith(("import ", "import\t")):
            source = _inside(project, pth.parent / line.strip())
            if source and not source.is_relative_to(interpreter.parent.parent):
                if "__egginsert" in text:
                    raise _refusal(project, pth, "it puts the project before everything else on sys.path")
                yield source
            continue
        if _mentions(line, project):
            raise _refusal(project, pth, "it runs code of its own at start")
        for name in _IMPORT.findall(line):
            hook = pth.parent / (name.replace(".", "/") + ".py")
            hook = hook if hook.is_file() else hook.with_suffix("") / "__init__.py"
            if hook.is_file() and _mentions(_read(hook), project):
                yield from _from_hook(hook, project)


def _from_hook(hook: Path, project: Path) -> Iterator[Path]:
    text = _read(hook)
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError):
        raise _refusal(project, hook, "it is not readable as Python") from None
    if "meta_path.insert" in text or not ("meta_path.append" in text or "editables" in text):
        raise _refusal(project, hook, "it is an import hook that goes before PYTHONPATH")
    mapped = list(_mapped(tree))
    covered = {path for _, path in mapped}
    for text_path in _strings(tree):
        if text_path not in covered and _inside(project, Path(text_path)):
            raise _refusal(project, hook, f"it uses {text_path} in an unknown way")
    for name, path in mapped:
        target = _inside(project, Path(path))
        if target:
            yield _source_folder(name, target, project, hook)


def _mapped(tree: ast.AST) -> Iterator[tuple[str, str]]:
    """(module, path) pairs: setuptools' MAPPING and NAMESPACES, the calls of `editables`."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Dict):
            for key, value in zip(node.keys, node.values, strict=True):
                if isinstance(key, ast.Constant) and isinstance(key.value, str):
                    yield from ((key.value, path) for path in _strings(value))
        elif (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Attribute)
            and node.func.attr == "map_module"
        ):
            strings = [
                arg.value for arg in node.args if isinstance(arg, ast.Constant) and isinstance(arg.value, str)
            ]
            if len(strings) == 2:
                yield strings[0], strings[1]


def _source_folder(name: str, target: Path, project: Path, hook: Path) -> Path:
    """The folder below which `target` is found as module `name`."""
    if target.name == "__init__.py":
        target = target.parent
    if target.suffix == ".py":
        target = target.with_suffix("")
    parts = tuple(name.split("."))
    if target.parts[-len(parts) :] != parts:
        raise _refusal(project, hook, f"it maps {name} to a folder of another name, {target}")
    return Path(*target.parts[: -len(parts)])


def _strings(tree: ast.AST) -> list[str]:
    constants = (node.value for node in ast.walk(tree) if isinstance(node, ast.Constant))
    return [
        value for value in constants if isinstance(value, str) and value.startswith("/") and "\0" not in value
    ]


def _inside(project: Path, path: Path) -> Path | None:
    """`path` as it lies below `project` (both without links), None if it doesn't."""
    if "\0" in str(path):
        return None
    for form in (Path(os.path.normpath(path)), Path(os.path.realpath(path))):
        if form.is_relative_to(project):
            return form
    return None


def _mentions(text: str, project: Path) -> bool:
    return any(_inside(project, Path(path)) for path in re.findall(r"/[^'\"\n]*", text))


def _read(path: Path) -> str:
    try:
        with path.open("rb") as file:
            return file.read(_LIMIT).decode("utf-8", "surrogateescape")
    except OSError:
        return ""


def _refusal(project: Path, where: Path, why: str) -> UsageError:
    return UsageError(
        f"The tests would not see a copy of {project.name}: {where} installs it in editable mode, and {why}.",
        hint="Install bubblewrap (the copy is then seen at the project's own path), or install the project "
        "plainly: with setuptools, `pip install -e . --config-settings editable_mode=compat`.",
    )
