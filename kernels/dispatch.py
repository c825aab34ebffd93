"""Which implementation computes an operation: a table, the best that this machine can run first."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from kernels.reference import attnres, conv, glu, indexer, kda, linear, mla, mxfp4, norm, pages, router


@dataclass(frozen=True, slots=True)
class Ops:
    """One implementation of every operation; signatures are those of `kernels.reference`."""

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
)
