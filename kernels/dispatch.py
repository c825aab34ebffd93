"""Which implementation computes an operation: a table, the best that this machine can run first.

`DESKAGENT_KERNELS` says another one: `reference`, an instruction set of the compiled kernels (`avx512vbmi`, `avx512`,
`avx2`, `neon`, `scalar`), or either with `-exact` for MXFP4 products in fp32 (`exact` alone: the best one).
"""

from __future__ import annotations

import logging
import os
from collections.abc import Callable
from dataclasses import dataclass, fields
from functools import cache, wraps

from kernels.reference import attnres, conv, glu, indexer, kda, linear, mla, mxfp4, norm, pages, patches, router

VARIABLE = "DESKAGENT_KERNELS"
_EXACT = "exact"


@dataclass(frozen=True, slots=True)
class Ops:
    """One implementation of every operation; signatures are those of `kernels.reference`.

    capture: runs a step and gives something whose `replay()` runs it again on the same memory, as
    `kernels.cpu.capture.Captured`; None where every call has to come from Python.
    """

    embed: Callable
    linear: Callable
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


class KernelError(ValueError):
    """Kernels were asked for by a name that this machine doesn't run."""


@cache
def available() -> tuple[str, ...]:
    """Names that `select` takes on this machine's CPU, best first: instruction sets of the compiled kernels, each
    also with `-exact`, and `reference`."""
    try:
        from kernels.cpu._native import names
    except ImportError:  # installed without a compiler
        return ("reference",)
    sets = names()
    return (*sets, *(f"{isa}-{_EXACT}" for isa in sets), "reference")


def select(device: str = "cpu", name: str | None = None) -> Ops:
    """The operations for tensors on `device`.

    name: one of `available()`, `exact`, or None for what `DESKAGENT_KERNELS` says and else the best. Says in the log
    when only the reference runs. Errors: KernelError for a name that this machine doesn't run.
    """
    known = available() if device == "cpu" else ("reference",)
    wanted = name or os.environ.get(VARIABLE) or known[0]
    if wanted == _EXACT:
        wanted = known[0] if known[0] == "reference" else f"{known[0]}-{_EXACT}"
    if wanted not in known:
        raise KernelError(
            f"no kernels named {wanted!r} for {device} on this machine; there are {', '.join(known)}"
        )
    if known[0] == "reference":
        logging.getLogger("engine").warning("slow: no compiled kernels for %s, PyTorch computes all", device)
    return REFERENCE if wanted == "reference" else _compiled(*wanted.partition("-")[::2])


@cache
def _compiled(isa: str, exact: str) -> Ops:
    from kernels.cpu.capture import Captured
    from kernels.cpu.ops import CpuOps, Unsupported

    native = CpuOps(isa, bool(exact))

    def either(name: str) -> Callable:
        kernel, reference = getattr(native, name, None), getattr(REFERENCE, name)
        if kernel is None:  # those of pictures: a few large products, which PyTorch computes well
            return reference

        @wraps(kernel)
        def run(*arguments, **named):
            try:
                return kernel(*arguments, **named)
            except Unsupported:  # raised before anything is written
                return reference(*arguments, **named)

        return run

    names = [field.name for field in fields(Ops) if field.name != "capture"]
    return Ops(**{name: either(name) for name in names}, capture=Captured)
