"""Which implementation computes an operation: a table, the best that this machine can run first.

`DESKAGENT_KERNELS` says another one: `reference`, an instruction set of the compiled kernels (`avx512bf16`,
`avx512vbmi`, `avx512`, `avx2`, `neon`, `scalar`), `triton` on a GPU, or any of the last two with `-exact` for products
in fp32 (`exact` alone: the best one).
"""

from __future__ import annotations

import importlib.util
import logging
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from functools import cache, wraps

import torch

from kernels.reference import (
    attnres,
    conv,
    glu,
    indexer,
    kda,
    linear,
    mla,
    mxfp4,
    norm,
    pages,
    patches,
    router,
)

VARIABLE = "DESKAGENT_KERNELS"
_EXACT = "exact"
_TRITON = ("triton", f"triton-{_EXACT}")


@dataclass(frozen=True, slots=True)
class Ops:
    """One implementation of every operation; signatures are those of `kernels.reference`.

    capture: runs a step and gives something whose `replay()` runs it again on the same memory, as
    `kernels.cpu.capture.Captured`; None where every call has to come from Python.
    """

    embed: Callable
    linear: Callable
    loglik: Callable
    add: Callable
    rms_norm: Callable
    attn_res: Callable
    causal_conv: Callable
    kda: Callable
    gated_norm: Callable
    write_latents: Callable
    write_keys: Callable
    index_topk: Callable
    absorb: Callable
    mla_attention: Callable
    expand: Callable
    gated: Callable
    glu: Callable
    route: Callable
    experts: Callable
    layer_norm: Callable
    shift: Callable
    gelu: Callable
    patch_attention: Callable
    capture: Callable | None = None


REFERENCE = Ops(
    embed=linear.embed,
    linear=linear.linear,
    loglik=linear.loglik,
    add=linear.add,
    rms_norm=norm.rms_norm,
    attn_res=attnres.attn_res,
    causal_conv=conv.causal_conv,
    kda=kda.kda,
    gated_norm=kda.gated_norm,
    write_latents=pages.write_latents,
    write_keys=pages.write_keys,
    index_topk=indexer.index_topk,
    absorb=mla.absorb,
    mla_attention=mla.mla_attention,
    expand=mla.expand,
    gated=glu.gated,
    glu=glu.glu,
    route=router.route,
    experts=mxfp4.experts,
    layer_norm=norm.layer_norm,
    shift=patches.shift,
    gelu=patches.gelu,
    patch_attention=patches.patch_attention,
)


_NAMES = tuple(field.name for field in fields(Ops) if field.name != "capture")


class KernelError(ValueError):
    """Kernels were asked for by a name that this machine doesn't run."""


@cache
def available(device: str = "cpu") -> tuple[str, ...]:
    """Names that `select` takes for tensors on a device, best first: instruction sets of the compiled kernels or
    `triton`, each also with `-exact`, and `reference`. Under Triton's interpreter its kernels run on a CPU too."""
    kind = torch.device(device).type
    compiled = _instruction_sets() if kind == "cpu" else ()
    interpreted = os.environ.get("TRITON_INTERPRET") == "1"
    drawn = _TRITON if kind == "cuda" or (kind == "cpu" and interpreted) else ()
    if drawn and importlib.util.find_spec("triton") is None:
        drawn = ()
    return (*compiled, *(f"{isa}-{_EXACT}" for isa in compiled), *drawn, "reference")


def _instruction_sets() -> tuple[str, ...]:
    try:
        from kernels.cpu._native import names
    except ImportError:  # installed without a compiler
        return ()
    return tuple(names())


def limit_threads(count: int) -> None:
    """Has torch and the compiled kernels compute on so many threads of this process."""
    torch.set_num_threads(count)
    try:
        from kernels.cpu._native import threads
    except ImportError:  # installed without a compiler
        return
    threads(count)


def select(device: str = "cpu", name: str | None = None) -> Ops:
    """The operations for tensors on `device` (`cpu`, `cuda`, `cuda:1`).

    name: one of `available(device)`, `exact`, or None for what `DESKAGENT_KERNELS` says and else the best. Says in the
    log when only the reference runs. Errors: KernelError for a name that this machine doesn't run.
    """
    known = available(device)
    slow = all(found in ("reference", *_TRITON) for found in known) if device == "cpu" else len(known) == 1
    best = "reference" if slow else known[0]
    wanted = name or os.environ.get(VARIABLE) or best
    if wanted == _EXACT:
        wanted = best if slow else f"{best}-{_EXACT}"
    if wanted not in known:
        raise KernelError(
            f"no kernels named {wanted!r} for {device} on this machine; there are {', '.join(known)}"
        )
    if slow:
        logging.getLogger("engine").warning("slow: no compiled kernels for %s, PyTorch computes all", device)
    if wanted == "reference":
        return REFERENCE
    return _triton(wanted) if wanted in _TRITON else _compiled(*wanted.partition("-")[::2])


@cache
def _compiled(isa: str, exact: str) -> Ops:
    from kernels.cpu.capture import Captured
    from kernels.cpu.ops import CpuOps, Unsupported

    native = CpuOps(isa, bool(exact))
    kernels = {name: getattr(native, name) for name in _NAMES if hasattr(native, name)}
    return _backed(kernels, Unsupported, Captured)


@cache
def _triton(name: str) -> Ops:
    from kernels.triton.capture import Captured
    from kernels.triton.ops import table
    from kernels.triton.shared import INTERPRETED, Unsupported

    return _backed(table(name != _TRITON[0]), Unsupported, None if INTERPRETED else Captured)


def _backed(kernels: Mapping[str, Callable], unsupported: type[Exception], capture: Callable | None) -> Ops:
    """Kernels, and the reference for what they have no code for."""

    def either(name: str) -> Callable:
        kernel, reference = kernels.get(name), getattr(REFERENCE, name)
        if kernel is None:  # those of pictures: a few large products, which PyTorch computes well
            return reference

        @wraps(reference)
        def run(*arguments, **named):
            try:
                return kernel(*arguments, **named)
            except unsupported:  # raised before anything is written
                return reference(*arguments, **named)

        return run

    return Ops(**{name: either(name) for name in _NAMES}, capture=capture)
