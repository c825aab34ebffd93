"""What a patch encoder needs beside plain products: biases, GELU, attention within each picture."""

from __future__ import annotations

from itertools import pairwise

import torch
from torch import Tensor


def shift(x: Tensor, bias: Tensor) -> Tensor:
    """`x + bias` on every row. x: [N, D]; bias: [D]. Computed in fp32, given back in x's dtype."""
    return (x.float() + bias.float()).to(x.dtype)


def gelu(x: Tensor, approximate: bool) -> Tensor:
    """The Gaussian error linear unit (Hendrycks & Gimpel 2016), exact or by its tanh approximation. x: [N, D].
    Computed in fp32, given back in x's dtype."""
    return torch.nn.functional.gelu(x.float(), approximate="tanh" if approximate else "none").to(x.dtype)


def patch_attention(qkv: Tensor, angles: Tensor, starts: Tensor, heads: int) -> Tensor:
    """Every patch looks at all patches of its own picture: `softmax(q·k / √d) v`, queries and keys turned by `angles`.

    qkv: [N, 3·H·d], queries first. angles: [N, d/2] fp32, of the pairs (0, 1), (2, 3) … of each head (Su et al. 2021).
    starts: [P + 1] int32, picture p has rows starts[p] … starts[p + 1]. Gives [N, H·d] in qkv's dtype; computed in
    fp32.
    """
    q, k, v = qkv.float().unflatten(1, (3, heads, -1)).unbind(1)
    cos, sin = angles.cos()[:, None], angles.sin()[:, None]
    q, k = _turned(q, cos, sin), _turned(k, cos, sin)
    out = torch.empty_like(v)
    for first, last in pairwise(starts.tolist()):
        own_q, own_k, own_v = (part[first:last].transpose(0, 1)[None] for part in (q, k, v))
        seen = torch.nn.functional.scaled_dot_product_attention(own_q, own_k, own_v)
        out[first:last] = seen[0].transpose(0, 1)
    return out.flatten(1).to(qkv.dtype)


def _turned(x: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
    """x: [N, H, d]; cos, sin: [N, 1, d/2]."""
    even, odd = x[..., 0::2], x[..., 1::2]
    return torch.stack([even * cos - odd * sin, even * sin + odd * cos], dim=-1).flatten(-2)
