"""Gated latent attention with gradients, and what its indexer learns: where attention goes.

The engine asks for the absorbed form, whose parts it computes around a cache. Here everything is at hand at once, so
the parts are only gathered on the way (`Query`, `Mixture`), and `expand` computes attention on plain keys and values,
which are narrower than latents.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn.functional import layer_norm, pad, scaled_dot_product_attention

from engine.train.notes import Notes
from engine.train.packed import Packed, Span
from engine.train.plain import rms_norm
from engine.train.recall import best, recall


class Slate:
    """Stands in a cache's place, and holds the rows of this pass."""

    rows: Tensor


@dataclass(frozen=True, slots=True)
class Query:
    """q: [T, H·(nope + shared)]; k_b: [H, nope, rank]."""

    q: Tensor
    k_b: Tensor


@dataclass(frozen=True, slots=True)
class Index:
    """The indexer's side of all tokens. q: [T, I, d] and weights: [T, I], both scaled; keys: [T, d]; k: top-k."""

    q: Tensor
    weights: Tensor
    keys: Tensor
    k: int

    def scores(self, queries: Tensor | slice, keys: slice) -> Tensor:
        """[queries, keys] fp32."""
        q, weights = self.q[queries], self.weights[queries]
        met = torch.relu(torch.einsum("nhd,sd->hns", q, self.keys[keys]))
        return torch.einsum("nh,hns->ns", weights, met)


@dataclass(frozen=True, slots=True)
class Mixture:
    query: Query
    latents: Tensor
    index: Index | None
    rank: int
    scale: float
    packed: Packed


def write_latents(kv: Tensor, weight: Tensor, eps: float, slate: Slate, _packed: Packed) -> None:
    rank = weight.shape[0]
    slate.rows = torch.cat([rms_norm(kv[:, :rank], weight, eps), kv[:, rank:]], dim=-1)


def write_keys(keys: Tensor, weight: Tensor, bias: Tensor, eps: float, slate: Slate, _packed: Packed) -> None:
    slate.rows = layer_norm(keys.float(), weight.shape, weight.float(), bias.float(), eps)


def index(q: Tensor, weights: Tensor, slate: Slate, _packed: Packed, k: int) -> Index:
    """What `kernels.reference.indexer.index_topk` chooses by; the choice is made where attention is computed."""
    heads = weights.shape[1]
    q = q.float().unflatten(1, (heads, -1))
    return Index(q * q.shape[-1] ** -0.5, weights.float() * heads**-0.5, slate.rows, k)


def mixture(
    query: Query, slate: Slate, packed: Packed, chosen: Index | None, rank: int, scale: float
) -> Mixture:
    return Mixture(query, slate.rows, chosen, rank, scale, packed)


def expand(mixture: Mixture, v_b: Tensor, dtype: torch.dtype, notes: Notes) -> Tensor:
    """Each head's mixed values: [T, H·v] of `dtype`. v_b: [H, v, rank]."""
    query, packed = mixture.query, mixture.packed
    heads, nope, _ = query.k_b.shape
    q = query.q.unflatten(1, (heads, -1)).transpose(0, 1)
    latent, shared = mixture.latents.split([mixture.rank, q.shape[-1] - nope], dim=1)
    latent = latent.to(v_b.dtype)
    both = (
        (latent @ torch.cat([query.k_b, v_b], dim=1).flatten(0, 1).T)
        .unflatten(1, (heads, -1))
        .transpose(0, 1)
    )
    plain, v = both.split([nope, v_b.shape[1]], dim=-1)
    k = torch.cat([plain, shared.to(plain.dtype).expand(heads, -1, -1)], dim=-1)
    width = max(v.shape[-1], k.shape[-1])
    v = pad(v, (0, width - v.shape[-1]))
    if mixture.index is not None:
        watch(q.detach(), k.detach(), mixture, notes)
    lengths = [span.last - span.first for span in packed.spans]
    out: list[Tensor] = []
    parts = (x.split(lengths, dim=1) for x in (q, k, v))
    for span, own_q, own_k, own_v in zip(packed.spans, *parts, strict=True):
        seen = chosen(mixture.index, span) if notes.sparse and mixture.index is not None else span.seen
        mixed = scaled_dot_product_attention(
            own_q[None], own_k[None], own_v[None], seen, is_causal=seen is None, scale=mixture.scale
        )
        out.append(mixed[0, ..., : v_b.shape[1]])
    return torch.cat(out, dim=1).transpose(0, 1).flatten(1).to(dtype)


@torch.no_grad()
def chosen(index: Index, span: Span) -> Tensor | None:
    """[L, L] bool: what each token of a span sees; None where that is all before it."""
    size = span.last - span.first
    if size <= index.k:
        return span.seen
    past = span.past(torch.arange(size, device=index.keys.device))
    if span.seen is not None and int(past.sum(1).max()) <= index.k:
        return span.seen
    rows = slice(span.first, span.last)
    return best(index.scores(rows, rows), past, index.k)


def watch(q: Tensor, k: Tensor, mixture: Mixture, notes: Notes) -> None:
    """Notes how far the indexer is from the attention of some rows. q, k: [H, T, d], without gradients."""
    index, count = mixture.index, q.shape[1]
    if index is None or not notes.rows:
        return
    rows = notes.sampled(count).to(q.device)
    total = index.keys.new_zeros(())
    for span in mixture.packed.spans:
        own = rows[(rows >= span.first) & (rows < span.last)]
        if not len(own):
            continue
        part = slice(span.first, span.last)
        past = span.past(own - span.first)
        with torch.no_grad():
            met = (q[:, own].float() @ k[:, part].float().transpose(1, 2)) * mixture.scale
            attention = met.masked_fill(~past, -torch.inf).softmax(-1).mean(0)
        scores = index.scores(own, part)
        told = scores.masked_fill(~past, -torch.inf).log_softmax(-1)
        total = total + (torch.xlogy(attention, attention) - attention * told.masked_fill(~past, 0)).sum()
        if notes.recall is not None:
            generator = torch.Generator().manual_seed(notes.seed + span.first)
            notes.recall.add(recall(attention, scores, past, index.k, generator))
    notes.divergences.append(total / len(rows))
