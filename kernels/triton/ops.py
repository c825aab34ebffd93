"""The Triton kernels as `Ops`: signatures and meaning are those of `kernels.reference`.

Nothing here asks the device for a number, so that a step can be captured in a CUDA graph.
"""

from __future__ import annotations

from functools import partial

from kernels.triton import conv, experts, indexer, kda, linear, mla, pages, router, rows

SIMPLE = {
    "embed": rows.embed,
    "add": rows.add,
    "rms_norm": rows.rms_norm,
    "attn_res": rows.attn_res,
    "causal_conv": conv.causal_conv,
    "gated_norm": rows.gated_norm,
    "write_latents": pages.write_latents,
    "write_keys": pages.write_keys,
    "gated": rows.gated,
    "glu": rows.glu,
}
PRODUCTS = {
    "linear": linear.linear,
    "loglik": linear.loglik,
    "kda": kda.kda,
    "index_topk": indexer.index_topk,
    "absorb": linear.absorb,
    "mla_attention": mla.mla_attention,
    "expand": linear.expand,
    "route": router.route,
    "experts": experts.experts,
}


def table(exact: bool) -> dict:
    """Operations by name. exact: fp32 is multiplied as fp32; else as three tf32 products, and as bf16 against bf16."""
    return SIMPLE | {name: partial(function, exact=exact) for name, function in PRODUCTS.items()}
