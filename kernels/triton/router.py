"""The router: scores by a matrix product, then the k best of each row, picked one after the other."""

from __future__ import annotations

import torch
import triton
import triton.language as tl
from torch import Tensor

from kernels.triton.linear import product
from kernels.triton.shared import check, power_of_two, sigmoid


def route(
    x: Tensor, weight: Tensor, bias: Tensor | None, k: int, scale: float, renormalise: bool, *, exact: bool
) -> tuple[Tensor, Tensor]:
    check(x, weight, bias)
    rows, experts = x.shape[0], weight.shape[0]
    logits = torch.empty((rows, experts), dtype=torch.float32, device=x.device)
    ids = torch.empty((rows, k), dtype=torch.int32, device=x.device)
    weights = torch.empty((rows, k), dtype=torch.float32, device=x.device)
    if rows:
        product(x, weight, logits, exact)
        given = bias is not None
        _choose[(rows,)](
            logits, bias if given else logits, ids, weights, experts, float(scale),
            k, given, bool(renormalise), power_of_two(experts), power_of_two(k),
        )  # fmt: skip
    return ids, weights


@triton.jit
def _choose(
    logits, bias, ids, weights, experts, scale,
    K: tl.constexpr, BIASED: tl.constexpr, RENORMALISE: tl.constexpr, BLOCK: tl.constexpr, KEPT: tl.constexpr,
):  # fmt: skip
    row = tl.program_id(0).to(tl.int64)
    i = tl.arange(0, BLOCK)
    place = tl.arange(0, KEPT)
    inside = i < experts
    scores = sigmoid(tl.load(logits + row * experts + i, mask=inside, other=0.0))
    by = scores
    if BIASED:
        by += tl.load(bias + i, mask=inside, other=0.0).to(tl.float32)
    by = tl.where(inside & (by == by), by, -float("inf"))  # what is not a number is chosen last
    left = inside
    chosen = tl.zeros([KEPT], tl.int32)
    kept = tl.zeros([KEPT], tl.float32)
    for j in range(K):
        top = tl.max(tl.where(left, by, -float("inf")), 0)
        best = tl.min(tl.where(left & (by == top), i, BLOCK), 0)
        chosen = tl.where(place == j, best, chosen)
        kept = tl.where(place == j, tl.sum(tl.where(i == best, scores, 0.0), 0), kept)
        left = left & (i != best)
    if RENORMALISE:
        kept = kept / (tl.sum(tl.where(place < K, kept, 0.0), 0) + 1e-20)
    tl.store(ids + row * K + place, chosen, mask=place < K)
    tl.store(weights + row * K + place, kept * scale, mask=place < K)
