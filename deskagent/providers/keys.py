"""Where a model server's key comes from: the environment, the system's keyring if there is one, or a file that only its
owner can read. Keys are never part of a project's files, of a session, or of what is printed."""

from __future__ import annotations

import importlib.util
import json
import os
import stat
from pathlib import Path

from deskagent import paths
from deskagent.errors import UsageError
from deskagent.session import settings

_SERVICE = "deskagent"


def key(provider: str, variable: str = "") -> str:
    """The key of a provider; "" where there is none. variable: of the environment, which goes first.

    Errors: UsageError for a file of keys that others can read, or that is none.
    """
    if variable and (found := os.environ.get(variable)):
        return found
    return _from_keyring(provider) or _kept().get(provider, "")


def keep(provider: str, value: str) -> str:
    """Keeps a key, and says where. Errors: TransientError, UsageError."""
    if _keyring() is not None:
        import keyring  # type: ignore[import-not-found]
        from keyring.errors import KeyringError  # type: ignore[import-not-found]

        try:
            keyring.set_password(_SERVICE, provider, value)
            return "the system's keyring"
        except KeyringError:
            pass  # one that is locked or without a back end: the file then
    file = _file()
    settings.save(file, json.dumps({**_kept(), provider: value}, indent=1), "keep the key")
    return str(file)


def _file() -> Path:
    return paths.config_dir() / "keys.json"


def _kept() -> dict[str, str]:
    file = _file()
    try:
        with file.open(encoding="utf-8") as opened:
            mode = stat.S_IMODE(os.fstat(opened.fileno()).st_mode)
            if mode & 0o077:
                raise UsageError(
                    f"{file} can be read by others.", hint=f"Make it yours alone: chmod 600 {file}"
                )
            found = json.load(opened)
    except FileNotFoundError:
        return {}
    except (OSError, ValueError) as error:
        raise UsageError(f"The keys in {file} can't be read: {error}.") from error
    if not isinstance(found, dict):
        raise UsageError(f"{file} holds no keys by provider.")
    return {str(name): str(value) for name, value in found.items()}


def _keyring() -> object | None:
    return importlib.util.find_spec("keyring")


def _from_keyring(provider: str) -> str:
    if _keyring() is None:
        return ""
    import keyring  # type: ignore[import-not-found]
    from keyring.errors import KeyringError  # type: ignore[import-not-found]

    try:
        return keyring.get_password(_SERVICE, provider) or ""
    except KeyringError:
        return ""
