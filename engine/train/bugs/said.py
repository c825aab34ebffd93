"""What a test says of a difference that was seen, in the words of pytest or of a plain traceback."""

from __future__ import annotations

import random
from collections.abc import Mapping
from typing import Any

_PLAIN = 0.2
"""Share of exceptions told by a plain traceback."""
_LONG = 120


def said(seen: Mapping[str, Any], path: str, rng: random.Random) -> tuple[str, str]:
    """The failure, and what was expected and seen in a line, or nothing."""
    return _WORDS[seen["kind"]](seen, path, rng)


def _value(seen: Mapping[str, Any], path: str, rng: random.Random) -> tuple[str, str]:
    source, expected, actual = seen["source"], seen["expected"], _cut(seen["actual"])
    thought = f"expected {expected}, got {actual}\n"
    where = f"E + where {actual} = {source}"
    if expected in ("True", "False"):
        no = "not " if expected == "False" else ""
        return f"> assert {no}{source}\nE assert {no}{actual}\n{where}", thought
    operator = "is" if expected == "None" else "=="
    lines = [f"> assert {source} {operator} {expected}", f"E assert {actual} {operator} {expected}"]
    if expected[0] in "'\"":
        lines[1] = lines[1].replace("E ", "E AssertionError: ", 1)
    return "\n".join([*lines, where] if rng.random() < 0.8 else lines), thought


def _error(seen: Mapping[str, Any], path: str, rng: random.Random) -> tuple[str, str]:
    frames, error = seen["frames"], seen["error"]
    thought = f"got {error}\n"
    if rng.random() < _PLAIN:
        told = (f"in {name}\n    {frame}" for name, frame in zip(seen["names"], frames, strict=False))
        return "\n".join([f"{path}: {each}" for each in told] + [error]), thought
    return "\n".join(
        dict.fromkeys([f"> {seen['source']}", *(f"> {frame}" for frame in frames), f"E {error}"])
    ), thought


def _raises(seen: Mapping[str, Any], path: str, rng: random.Random) -> tuple[str, str]:
    error = seen["expected"]
    return (
        f"> with pytest.raises({error}):\n{seen['source']}\nE Failed: DID NOT RAISE <class '{error}'>",
        f"expected {error}\n",
    )


def _timeout(seen: Mapping[str, Any], path: str, rng: random.Random) -> tuple[str, str]:
    return f"> {seen['source']}\nE Failed: Timeout (>2.0s) from pytest-timeout.", "got no end\n"


def _cut(text: str) -> str:
    return text if len(text) <= _LONG else text[:_LONG] + "..."


_WORDS = {"value": _value, "error": _error, "raises": _raises, "timeout": _timeout}
