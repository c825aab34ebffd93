"""Runs of small operations made into one: by torch.compile, where a run asks for it.

It needs a C++ compiler on a CPU, and Triton on a GPU. Without it the same functions compute the same, step by step.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, wraps
from typing import ParamSpec, TypeVar

import torch

_P = ParamSpec("_P")
_R = TypeVar("_R")
_LIMIT = 64
"""Versions of a function, for other dtypes and numbers of streams."""
_on = False


def turn_on() -> None:
    """From now on `fused` functions are compiled when they are first called: some seconds each."""
    import torch._dynamo

    global _on
    _on = True
    torch._dynamo.config.recompile_limit = _LIMIT


def fused(function: Callable[_P, _R]) -> Callable[_P, _R]:
    """Marks a pure function of tensors, which has gradients."""

    @cache
    def compiled() -> Callable[_P, _R]:  # not at import: the compiler takes seconds to load
        return torch.compile(function, dynamic=True)

    @wraps(function)
    def run(*arguments: _P.args, **named: _P.kwargs) -> _R:
        return (compiled() if _on else function)(*arguments, **named)

    return run
