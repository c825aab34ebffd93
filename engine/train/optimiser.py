"""Muon for the matrices of hidden layers, AdamW for all else.

Muon (Jordan et al. 2024): the momentum's singular values are made about one by a Newton–Schulz iteration, and the
update is scaled to the size of AdamW's (Liu et al. 2025, arXiv 2502.16982), so that one learning rate serves both.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import isfinite

import torch
from torch import Tensor
from torch.nn.utils import clip_grad_norm_

from engine.train.settings import Settings

_COEFFICIENTS = (3.4445, -4.7750, 2.0315)
_ITERATIONS = 5
_MOMENTUM = 0.95
_BETAS = (0.9, 0.95)
_EPS = 1e-10
_SCALE = 0.2
_NARROW = 16
"""A matrix that is narrower has no directions to be made equal."""
_APART = ("embed_tokens", "lm_head", "conv1d", "gate.weight", "indexer.")


class Optimiser:
    """Moves parameters by their `.grad`. states: momenta by name, `muon.NAME`, `mean.NAME` and `square.NAME`."""

    def __init__(self, named: Mapping[str, Tensor], settings: Settings) -> None:
        self._settings, self._named = settings, named
        self.states: dict[str, Tensor] = {}
        self._muon: dict[tuple[int, ...], list[str]] = {}
        decayed: list[Tensor] = []
        others: list[Tensor] = []
        for name, tensor in named.items():
            if settings.optimiser == "muon" and _is_hidden(name, tensor):
                self._muon.setdefault(tuple(tensor.shape[-2:]), []).append(name)
                self.states[f"muon.{name}"] = torch.zeros_like(tensor, requires_grad=False)
            else:
                (decayed if tensor.dim() > 1 and "embed_tokens" not in name else others).append(tensor)
                self.states[f"mean.{name}"] = torch.zeros_like(tensor, requires_grad=False)
                self.states[f"square.{name}"] = torch.zeros_like(tensor, requires_grad=False)
        self._adam = torch.optim.AdamW(
            [
                {"params": decayed, "weight_decay": settings.weight_decay},
                {"params": others, "weight_decay": 0.0},
            ],
            betas=_BETAS,
            eps=_EPS,
            fused=True,
        )
        for name, tensor in named.items():
            if f"mean.{name}" in self.states:
                self._adam.state[tensor] = {
                    "step": torch.zeros((), device=tensor.device),
                    "exp_avg": self.states[f"mean.{name}"],
                    "exp_avg_sq": self.states[f"square.{name}"],
                }

    @torch.no_grad()
    def step(self, number: int) -> float:
        """number: of steps before this one. Gives the gradients' norm before it was clipped, and clears them; one that
        is no number moves nothing."""
        norm = float(clip_grad_norm_(self._named.values(), self._settings.clip))
        if isfinite(norm):
            rate = self._settings.rate(number)
            for group in self._adam.param_groups:
                group["lr"] = rate
            for state in self._adam.state.values():
                state["step"].fill_(number)
            self._adam.step()
            for names in self._muon.values():
                self._move(names, rate)
        for tensor in self._named.values():
            tensor.grad = None
        return norm

    def _move(self, names: list[str], rate: float) -> None:
        """Muon's step on matrices of one shape, which are multiplied together."""
        shape = self._named[names[0]].shape[-2:]
        ahead: list[Tensor] = []
        moved: list[Tensor] = []
        for name in names:
            tensor, momentum = self._named[name], self.states[f"muon.{name}"]
            if tensor.grad is None:
                continue
            momentum.lerp_(tensor.grad, 1 - _MOMENTUM)
            ahead.append(tensor.grad.lerp(momentum, _MOMENTUM).reshape(-1, *shape))
            moved.append(tensor)
        straight = orthogonal(torch.cat(ahead)).split([len(one) for one in ahead])
        for tensor, update in zip(moved, straight, strict=True):
            tensor.mul_(1 - rate * self._settings.weight_decay)
            tensor.add_(update.view_as(tensor), alpha=-rate * _SCALE * max(shape) ** 0.5)


def orthogonal(matrices: Tensor) -> Tensor:
    """Matrices with the same singular vectors and singular values near one. matrices: [n, out, in]."""
    tall = matrices.shape[1] > matrices.shape[2]
    x = matrices.transpose(1, 2) if tall else matrices
    x = (x / (x.norm(dim=(1, 2), keepdim=True) + 1e-7)).bfloat16()
    a, b, c = _COEFFICIENTS
    for _ in range(_ITERATIONS):
        square = x @ x.transpose(1, 2)
        x = torch.baddbmm(x, torch.baddbmm(square, square, square, beta=b, alpha=c), x, beta=a)
    return (x.transpose(1, 2) if tall else x).to(matrices.dtype)


def _is_hidden(name: str, tensor: Tensor) -> bool:
    if tensor.dim() < 2 or min(tensor.shape[-2:]) < _NARROW:
        return False
    return not any(part in name for part in _APART)
