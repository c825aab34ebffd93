"""Which folders a command needs to see to start at all: interpreter, virtual environment, tools on PATH."""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

import deskagent
from deskagent.terminal.sandbox.disk import exists, is_dir, is_file

# What the system itself keeps in /run.
_IN_RUN = ("/run/current-system", "/run/booted-system", "/run/opengl-driver")
_BIN = ("bin", "sbin", "Scripts")
_SHELLS = ("sh", "bash", "dash", "zsh", "ksh")
_COMMAND = re.compile(r"-[a-z]*c$")
_LISTS = ("PATH", "PYTHONPATH", "LD_LIBRARY_PATH", "NODE_PATH", "PERL5LIB")
_FOLDERS = (
    *("VIRTUAL_ENV", "CONDA_PREFIX", "PYENV_ROOT", "HOME", "CARGO_HOME", "RUSTUP_HOME", "GOROOT", "GOPATH"),
    *("JAVA_HOME", "NVM_DIR", "SSL_CERT_FILE", "SSL_CERT_DIR", "REQUESTS_CA_BUNDLE", "NODE_EXTRA_CA_CERTS"),
)


def program_folders(argv: tuple[str, ...], env: Mapping[str, str]) -> tuple[Path, ...]:
    """Real paths that exist and that the command's programs lie in; some may lie within others."""
    found: set[Path] = set()
    for path in (*_named(argv, env), *map(Path, _IN_RUN), Path(deskagent.__file__).parent):
        if exists(path):
            found.add(Path(os.path.realpath(path)))
    return tuple(sorted(found))


def _named(argv: tuple[str, ...], env: Mapping[str, str]) -> Iterator[Path]:
    for name in _LISTS:
        for entry in env.get(name, "").split(os.pathsep):
            if entry.startswith("/"):
                yield from _prefixes(Path(entry))
    for name in _FOLDERS:
        value = env.get(name, "")
        if value.startswith("/"):
            yield Path(value)
    for word in argv[:1]:
        if word.startswith("/"):
            yield Path(word)
            yield from _prefixes(Path(word).parent)
            yield from _prefixes(Path(os.path.realpath(word)).parent)
    for program in _in_shell_line(argv):
        yield program
        if program.parent.name in _BIN:
            yield from _prefixes(program.parent)
            yield from _prefixes(Path(os.path.realpath(program)).parent)


def _in_shell_line(argv: tuple[str, ...]) -> Iterator[Path]:
    """The programs that a line for a shell names by their whole path."""
    if not argv or Path(argv[0]).name not in _SHELLS:
        return
    line = next((argv[i + 1] for i in range(1, len(argv) - 1) if _COMMAND.match(argv[i])), "")
    lexer = shlex.shlex(line, posix=True, punctuation_chars=True)
    lexer.whitespace_split = True
    try:
        words = list(lexer)
    except ValueError:  # an open quote: the shell will say so
        return
    for word in words:
        if word.startswith("/") and is_file(Path(word)) and os.access(word, os.X_OK):
            yield Path(word)


def _prefixes(folder: Path) -> Iterable[Path]:
    """`folder`, and the tree it belongs to where it is the `bin` of an installation or environment."""
    yield folder
    prefix = folder.parent
    if folder.name not in _BIN:
        return
    settings = prefix / "pyvenv.cfg"
    if is_file(settings) or is_dir(prefix / "lib"):
        yield prefix
    try:
        lines = settings.read_text("utf-8", "replace").splitlines()
    except OSError:
        return
    for line in lines:
        key, equals, value = line.partition("=")
        if equals and key.strip() == "home" and value.strip().startswith("/"):
            # The file is the project's own: what it names is shown only where a Python really is installed.
            home = Path(os.path.realpath(value.strip()))
            named = home.parent if home.name == "bin" else home
            if is_python(named):
                yield named


def is_python(prefix: Path) -> bool:
    """Whether a Python with its library is installed there, as the system's, pyenv's, conda's and uv's are."""
    programs = (p for name in ("bin/python*", "bin/pypy*") for p in prefix.glob(name))
    libraries = (p for name in ("lib*/python3*/os.py", "lib*/pypy3*/os.py") for p in prefix.glob(name))
    return any(is_file(p) and os.access(p, os.X_OK) for p in programs) and any(map(is_file, libraries))
