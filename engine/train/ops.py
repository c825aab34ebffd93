"""The engine's operations with gradients, so that `engine.model` is what is trained."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import partial
from typing import cast

import torch
from torch import Tensor

from engine.batch import Batch
from engine.cache.pools import Pools
from engine.config import ModelConfig
from engine.model import Model, ModelWeights
from engine.train import attend, delta, mixture, plain
from engine.train.notes import Notes
from engine.train.packed import Packed
from kernels.dispatch import REFERENCE, Ops

_WHOLE = 1 << 62
"""`longest` of a batch: the indexer is always asked, since it learns below its top-k too."""


def table(notes: Notes) -> Ops:
    """Operations of one pass, which notes what training has to know."""

    def route(*arguments) -> tuple[Tensor, Tensor]:
        ids, weights = mixture.route(*arguments)
        notes.loads.append(ids.flatten().bincount(minlength=arguments[1].shape[0]))
        return ids, weights

    return replace(
        REFERENCE,
        embed=plain.embed,
        linear=plain.linear,
        add=plain.add,
        rms_norm=plain.rms_norm,
        attn_res=plain.attn_res,
        causal_conv=delta.causal_conv,
        kda=delta.kda,
        gated_norm=plain.gated_norm,
        write_latents=attend.write_latents,
        write_keys=attend.write_keys,
        index_topk=attend.index,
        absorb=attend.Query,
        mla_attention=attend.mixture,
        expand=partial(attend.expand, notes=notes),
        gated=plain.gated,
        glu=mixture.glu,
        route=route,
        experts=mixture.experts,
    )


@dataclass(slots=True)
class _Slates:
    """In the place of `Pools`: a pass without a past needs none, only somewhere to lay its own rows."""

    latents: dict[int, attend.Slate] = field(default_factory=dict)
    keys: dict[int, attend.Slate] = field(default_factory=dict)
    states: dict[int, None] = field(default_factory=dict)
    convs: dict[int, None] = field(default_factory=dict)


def hidden(
    config: ModelConfig, weights: ModelWeights, tokens: Tensor, packed: Packed, wanted: Tensor, notes: Notes
) -> Tensor:
    """What the head reads of the `wanted` rows: [len(wanted), hidden], with gradients to the weights."""
    slates = _Slates()
    for layer in range(config.layers):
        slates.latents[layer], slates.keys[layer] = attend.Slate(), attend.Slate()
        slates.states[layer] = slates.convs[layer] = None
    model = Model(config, weights, table(notes), torch.float32)
    return model.hidden(Batch(tokens, packed, wanted, _WHOLE), cast(Pools, slates))
