"""The memory of a model's sequences: pools of pages and of KDA states, a tensor a layer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import torch
from torch import Tensor

from engine.config import ModelConfig

PAGE = 64
"""Tokens a page."""


@dataclass(slots=True)
class Pools:
    """latents: layer → [P, page, kv_lora + shared_key]. keys: layer → [P, page, indexer dim]. states: layer →
    [slots, H, d, d] fp32. convs: layer → [slots, 3·H·d, K − 1]."""

    page: int
    latents: dict[int, Tensor] = field(default_factory=dict)
    keys: dict[int, Tensor] = field(default_factory=dict)
    states: dict[int, Tensor] = field(default_factory=dict)
    convs: dict[int, Tensor] = field(default_factory=dict)

    @classmethod
    def allocate(
        cls,
        config: ModelConfig,
        pages: int,
        slots: int,
        dtype: torch.dtype = torch.float32,
        device: torch.device | str = "cpu",
        page: int = PAGE,
    ) -> Pools:
        """Zeroed pools of `pages` pages and `slots` states a layer."""
        made = cls(page)
        for layer in range(config.layers):
            if config.is_full(layer):
                made.latents[layer] = torch.zeros(
                    pages, page, config.latent_width, dtype=dtype, device=device
                )
                if config.indexer is not None:
                    made.keys[layer] = torch.zeros(
                        pages, page, config.indexer.dim, dtype=dtype, device=device
                    )
            else:
                square = (slots, config.kda_heads, config.kda_dim, config.kda_dim)
                made.states[layer] = torch.zeros(square, dtype=torch.float32, device=device)
                shape = (slots, 3 * config.kda_width, config.conv - 1)
                made.convs[layer] = torch.zeros(shape, dtype=dtype, device=device)
        return made

    def clear(self, slot: int) -> None:
        """Makes a slot's states those of an empty sequence."""
        for pool in (*self.states.values(), *self.convs.values()):
            pool[slot] = 0

    def copy_slot(self, source: int, target: int) -> None:
        for pool in (*self.states.values(), *self.convs.values()):
            pool[target] = pool[source]

    def save_slot(self, slot: int) -> list[Tensor]:
        """A copy of a slot's states in main memory: one tensor a pool."""
        return [pool[slot].to("cpu", copy=True) for pool in (*self.states.values(), *self.convs.values())]

    def load_slot(self, slot: int, saved: Sequence[Tensor]) -> None:
        """What `save_slot` gave, into a slot."""
        for pool, state in zip((*self.states.values(), *self.convs.values()), saved, strict=True):
            pool[slot] = state

    def save_pages(self, pages: Sequence[int]) -> list[Tensor]:
        """Copies of pages in main memory: [len(pages), page, W] of each pool."""
        return [pool[list(pages)].cpu() for pool in (*self.latents.values(), *self.keys.values())]

    def load_pages(self, pages: Sequence[int], saved: Sequence[Tensor]) -> None:
        """What `save_pages` gave, into pages."""
        for pool, content in zip((*self.latents.values(), *self.keys.values()), saved, strict=True):
            pool[list(pages)] = content.to(pool.device)

    def copy_page(self, source: int, target: int) -> None:
        for pool in (*self.latents.values(), *self.keys.values()):
            pool[target] = pool[source]

    def slot_bytes(self) -> int:
        """Of one sequence's states."""
        return sum(
            pool[0].numel() * pool.element_size() for pool in (*self.states.values(), *self.convs.values())
        )

    def page_bytes(self) -> int:
        """Of one page, all layers together."""
        return sum(
            pool[0].numel() * pool.element_size() for pool in (*self.latents.values(), *self.keys.values())
        )

    def bytes(self) -> int:
        pools = (*self.latents.values(), *self.keys.values(), *self.states.values(), *self.convs.values())
        return sum(pool.numel() * pool.element_size() for pool in pools)
