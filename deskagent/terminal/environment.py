"""The environment that children get: a short list of what tools need, nothing that holds a secret.

An allow-list, because keys go by any name. What is kept are places (homes of tool chains, search paths, the
locale). What could make a child stop and ask (editors, pagers, git's password prompt) is answered beforehand.
NO_COLOR and COLUMNS are left out on purpose: a project's own tests may look at them, and in a pipe tools
print 80 columns without colour anyway.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

_KEPT_WORDS = """
PATH HOME USER LOGNAME SHELL LANG LANGUAGE TERM TZ TMPDIR CI
XDG_CACHE_HOME XDG_CONFIG_HOME XDG_DATA_HOME XDG_STATE_HOME
SSL_CERT_FILE SSL_CERT_DIR REQUESTS_CA_BUNDLE NODE_EXTRA_CA_CERTS

VIRTUAL_ENV CONDA_PREFIX CONDA_DEFAULT_ENV CONDA_EXE PYENV_ROOT PYENV_VERSION PYENV_VIRTUAL_ENV UV_CACHE_DIR
PYTHONPATH PYTHONHASHSEED PYTHONDONTWRITEBYTECODE PYTHONUTF8 PYTHONIOENCODING PYTHONWARNINGS

CC CXX AR LD CFLAGS CXXFLAGS CPPFLAGS LDFLAGS MAKEFLAGS CPATH C_INCLUDE_PATH CPLUS_INCLUDE_PATH
LIBRARY_PATH LD_LIBRARY_PATH PKG_CONFIG_PATH CMAKE_PREFIX_PATH CUDA_HOME CUDA_PATH CUDA_VISIBLE_DEVICES

GOPATH GOROOT GOBIN GOCACHE GOMODCACHE GOFLAGS GOTOOLCHAIN
CARGO_HOME CARGO_TARGET_DIR RUSTUP_HOME RUSTUP_TOOLCHAIN RUSTFLAGS
JAVA_HOME JDK_HOME MAVEN_HOME M2_HOME GRADLE_HOME GRADLE_USER_HOME SDKMAN_DIR ANDROID_HOME ANDROID_SDK_ROOT
NVM_DIR NVM_BIN NODE_PATH NODE_ENV PNPM_HOME VOLTA_HOME FNM_DIR BUN_INSTALL DENO_DIR
RBENV_ROOT GEM_HOME GEM_PATH BUNDLE_PATH ASDF_DIR ASDF_DATA_DIR MISE_DATA_DIR DOTNET_ROOT
GHCUP_INSTALL_BASE_PREFIX OPAMROOT OPAM_SWITCH_PREFIX PERL5LIB R_LIBS R_LIBS_USER JULIA_DEPOT_PATH
"""
_KEPT = frozenset(_KEPT_WORDS.split())

_SET = {
    "PAGER": "cat",
    "GIT_PAGER": "cat",
    "MANPAGER": "cat",
    "SYSTEMD_PAGER": "cat",
    # An editor that fails at once says more than one that keeps the text and seems to have worked.
    "EDITOR": "false",
    "VISUAL": "false",
    "GIT_EDITOR": "false",
    "GIT_SEQUENCE_EDITOR": "false",
    "GIT_TERMINAL_PROMPT": "0",
    "PYTHONUNBUFFERED": "1",
    "DEBIAN_FRONTEND": "noninteractive",
}

_DEFAULT_PATH = "/usr/local/bin:/usr/bin:/bin:/usr/local/sbin:/usr/sbin:/sbin"


def base_env(extra: Mapping[str, str] | None = None, *, pty: bool = False) -> dict[str, str]:
    """The scrubbed environment for a child: what is allowed of ours, our answers for editors, then `extra`.

    Relative entries of PATH are dropped: they would run what lies in the repository. In a PTY, TERM names
    what `screen` understands.
    """
    env = {
        name: value
        for name, value in os.environ.items()
        if name in _KEPT or (name.startswith("LC_") and name.isascii())
    }
    entries = env.get("PATH", _DEFAULT_PATH).split(os.pathsep)
    env["PATH"] = os.pathsep.join(entry for entry in entries if entry.startswith("/")) or _DEFAULT_PATH
    env.update(_SET)
    if pty:
        env["TERM"] = "xterm-256color"
    env.update(extra or {})
    return env


def outside(project: Path, path: str) -> str:
    """PATH without the entries that lie in the project: a test may have put a program of a known name there."""
    base = project.resolve()
    return os.pathsep.join(e for e in path.split(os.pathsep) if not Path(e).resolve().is_relative_to(base))
