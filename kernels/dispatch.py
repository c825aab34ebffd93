"""Which implementation computes an operation: a table, the best that this machine can run first."""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass, fields

from kernels.reference import attnres, conv, glu, indexer, kda, linear, mla, mxfp4, norm, pages, router


@dataclass(frozen=True, slots=True)
class Ops:
    """One implementation of every operation; signatures are those of `kernels.reference`."""

    rms_norm: Callable = norm.rms_norm
    layer_norm: Callable = norm.layer_norm
    situ_glu: Callable = glu.situ_glu
    silu_glu: Callable = glu.silu_glu
    attn_res: Callable = attnres.attn_res
    route: Callable = router.route
    causal_conv: Callable = conv.causal_conv
    kda_inputs: Callable = kda.kda_inputs
    kda_recurrent: Callable = kda.kda_recurrent
    kda_chunked: Callable = kda.kda_chunked
    write_pages: Callable = pages.write_pages
    index_topk: Callable = indexer.index_topk
    mla_attention: Callable = mla.mla_attention
    linear: Callable = linear.linear
    experts: Callable = mxfp4.experts


REFERENCE = Ops()
