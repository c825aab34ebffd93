"""The small operations with gradients. Results take the dtype of the weights, sums that of the stream."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn.functional import embedding
from torch.nn.functional import linear as product

from engine.train.fused import fused


@dataclass(frozen=True, slots=True)
class Apart:
    """A matrix that learns by a loss of its own: no gradient passes to what it reads."""

    weight: Tensor


def linear(x: Tensor, *weights: Tensor | Apart) -> Tensor:
    """As `kernels.reference.linear.linear`."""
    if isinstance(weights[0], Apart):
        x = x.detach()
    plain = [weight.weight if isinstance(weight, Apart) else weight for weight in weights]
    whole = plain[0] if len(plain) == 1 else torch.cat(plain)
    return product(x.to(whole.dtype), whole)


def embed(tokens: Tensor, table: Tensor, dtype: torch.dtype) -> Tensor:
    return embedding(tokens, table).to(dtype)


def add(one: Tensor, two: Tensor) -> Tensor:
    """In fp32: where a stream restarts it is the output of a product alone, of a narrower dtype."""
    return one.float() + two.float()


@fused
def rms_norm(x: Tensor, weight: Tensor, eps: float) -> Tensor:
    """As `kernels.reference.norm.rms_norm`."""
    wide = x.float()
    wide = wide * torch.rsqrt(wide.square().mean(-1, keepdim=True) + eps)
    return (wide * weight.float()).to(weight.dtype)


def attn_res(streams: Sequence[Tensor], score: Tensor, eps: float) -> Tensor:
    """As `kernels.reference.attnres.attn_res`."""
    return streams[0] if len(streams) == 1 else _mixed(list(streams), score, eps)


@fused
def _mixed(streams: list[Tensor], score: Tensor, eps: float) -> Tensor:
    streams = [stream.float() for stream in streams]
    scores = [(stream * score).sum(-1) * torch.rsqrt(stream.square().mean(-1) + eps) for stream in streams]
    shares = torch.stack(scores, dim=-1).softmax(-1)
    out = streams[0] * shares[:, :1]
    for number, stream in enumerate(streams[1:], 1):
        out = out + stream * shares[:, number : number + 1]
    return out


@fused
def gated(x: Tensor, gate: Tensor) -> Tensor:
    return (x.float() * torch.sigmoid(gate.float())).to(gate.dtype)


@fused
def gated_norm(o: Tensor, weight: Tensor, gate: Tensor, eps: float) -> Tensor:
    """As `kernels.reference.kda.gated_norm`."""
    wide = o * torch.rsqrt(o.square().mean(-1, keepdim=True) + eps) * weight.float()
    return (wide.flatten(1) * torch.sigmoid(gate.float())).to(gate.dtype)
