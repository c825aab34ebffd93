"""The mixture of experts with gradients: tokens sorted by expert, a product an expert; and the activations."""

from __future__ import annotations

import torch
from torch import Tensor
from torch.autograd import Function

from engine.train.fused import fused
from kernels.layout import Activation


def route(
    x: Tensor, weight: Tensor, bias: Tensor | None, k: int, scale: float, renormalise: bool
) -> tuple[Tensor, Tensor]:
    """As `kernels.reference.router.route`; of equal scores any expert may win."""
    scores = torch.sigmoid(x.float() @ weight.float().T)
    with torch.no_grad():
        ids = (scores if bias is None else scores + bias).topk(k, dim=-1).indices
    weights = scores.gather(-1, ids)
    if renormalise:
        weights = weights / (weights.sum(-1, keepdim=True) + 1e-20)
    return ids, weights * scale


def experts(
    x: Tensor,
    ids: Tensor,
    weights: Tensor,
    gate: tuple[Tensor, ...],
    up: tuple[Tensor, ...],
    down: tuple[Tensor, ...],
    activation: Activation,
) -> Tensor:
    """As `kernels.reference.mxfp4.experts` with plain stacks ([E, out, in],)."""
    count, k = gate[0].shape[0], ids.shape[1]
    order = ids.flatten().argsort(stable=True)
    place = torch.empty_like(order)
    place[order] = torch.arange(len(order), device=order.device)
    ends = ids.flatten().bincount(minlength=count).cumsum(0).tolist()
    rows = Sorted.apply(x, order, place, k)
    inside = Grouped.apply(rows, torch.cat([gate[0], up[0]], dim=1), ends)
    made = Grouped.apply(glu(inside, activation), down[0], ends)
    return Mixed.apply(made, weights, order, place).to(x.dtype)


@fused
def glu(both: Tensor, activation: Activation) -> Tensor:
    """As `kernels.reference.glu.glu`."""
    gate, up = both.float().chunk(2, dim=-1)
    if activation.name == "situ":
        if activation.linear_beta > 0:
            up = activation.linear_beta * torch.tanh(up / activation.linear_beta)
        made = activation.beta * torch.tanh(gate / activation.beta) * torch.sigmoid(gate) * up
    else:
        made = gate * torch.sigmoid(gate) * up
    return made.to(both.dtype)


class Sorted(Function):
    """Each row k times, by expert. x: [N, L]; order: [N·k], the pairs (row, choice) by expert; place: its inverse."""

    @staticmethod
    def forward(ctx, x: Tensor, order: Tensor, place: Tensor, k: int) -> Tensor:
        ctx.k = k
        ctx.save_for_backward(place)
        return x[order // k]

    @staticmethod
    def backward(ctx, grad: Tensor):
        (place,) = ctx.saved_tensors
        return grad[place].unflatten(0, (-1, ctx.k)).sum(1), None, None, None


class Grouped(Function):
    """`x Wᵀ` with each expert's own rows. x: [M, in], by expert; weight: [E, out, in]; ends: each expert's last row."""

    @staticmethod
    def forward(ctx, x: Tensor, weight: Tensor, ends: list[int]) -> Tensor:
        ctx.save_for_backward(x, weight)
        ctx.ends = ends
        out = x.new_empty(x.shape[0], weight.shape[1])
        for matrix, first, last in zip(weight, [0, *ends], ends, strict=False):
            torch.mm(x[first:last], matrix.T, out=out[first:last])
        return out

    @staticmethod
    def backward(ctx, grad: Tensor):
        x, weight = ctx.saved_tensors
        grad_x, grad_weight = torch.empty_like(x), torch.empty_like(weight)
        for number, (first, last) in enumerate(zip([0, *ctx.ends], ctx.ends, strict=False)):
            torch.mm(grad[first:last], weight[number], out=grad_x[first:last])
            torch.mm(grad[first:last].T, x[first:last], out=grad_weight[number])
        return grad_x, grad_weight, None


class Mixed(Function):
    """`Σ_k w_k y_k` of each row. y: [N·k, L] by expert; weights: [N, k]. Gives [N, L] fp32."""

    @staticmethod
    def forward(ctx, y: Tensor, weights: Tensor, order: Tensor, place: Tensor) -> Tensor:
        ctx.save_for_backward(y, weights, order, place)
        return _mixed(y, weights, place)

    @staticmethod
    def backward(ctx, grad: Tensor):
        y, weights, order, place = ctx.saved_tensors
        grad_y, by_place = _unmixed(grad, y, weights, order)
        return grad_y, by_place[place].view_as(weights), None, None


@fused
def _mixed(y: Tensor, weights: Tensor, place: Tensor) -> Tensor:
    return (y[place].unflatten(0, weights.shape).float() * weights[..., None]).sum(1)


@fused
def _unmixed(grad: Tensor, y: Tensor, weights: Tensor, order: Tensor) -> tuple[Tensor, Tensor]:
    spread = grad[order // weights.shape[1]]
    return (spread * weights.flatten()[order, None]).to(y.dtype), (spread * y).sum(-1)
