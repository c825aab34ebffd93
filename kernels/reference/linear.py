"""Plain matrix products of the trunk."""

from __future__ import annotations

from torch import Tensor


def linear(x: Tensor, weight: Tensor) -> Tensor:
    """`x Wᵀ`. x: [N, in]; weight: [out, in]. Summed in fp32, given back in x's dtype."""
    return (x.float() @ weight.float().T).to(x.dtype)
