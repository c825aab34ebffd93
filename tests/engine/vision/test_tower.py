"""The patch encoder: other people's answers as they were frozen, K3's kind written out plainly, packed = alone."""

from __future__ import annotations

from pathlib import Path

import pytest

torch = pytest.importorskip("torch")

from hypothesis import given, settings  # noqa: E402
from hypothesis import strategies as st  # noqa: E402
from safetensors.torch import load_file  # noqa: E402
from torch.nn import functional  # noqa: E402

from engine.vision.tower import encode  # noqa: E402
from engine.weights.build import build_vision  # noqa: E402
from kernels.dispatch import REFERENCE, select  # noqa: E402

FROZEN = Path(__file__).parents[2] / "oracle" / "frozen" / "kimi_k25_vision.safetensors"


def test_tokens_are_those_that_transformers_gave(towers, sizes, source, canvases) -> None:
    expected, config = load_file(FROZEN), towers["k2.5"]
    assert set(expected) == set(sizes)
    weights = build_vision(config, source("k2.5").tensor)
    for name, pictures in sizes.items():
        for ops in (REFERENCE, select(name="exact")):
            ours = torch.cat(encode(canvases(pictures), weights, config, ops, torch.float32))
            torch.testing.assert_close(ours, expected[name], rtol=0, atol=1e-5)


def plainly(canvas: torch.Tensor, config, get) -> torch.Tensor:
    """K3's kind as one writes it down from its public description: complex rotations, PyTorch's own norms."""

    def rms(x, name, eps=2.0**-23):
        return functional.rms_norm(x, x.shape[-1:], get(name), eps)

    def product(x, name):
        return functional.linear(x, get(name))

    rows, columns = canvas.shape[0] // 14, canvas.shape[1] // 14
    pixels = canvas.permute(2, 0, 1)[None].float() / 127.5 - 1
    x = functional.conv2d(pixels, get("vision_tower.patch_embed.proj.weight"), stride=14)[0].flatten(1).T
    grid = get("vision_tower.patch_embed.pos_emb.weight").permute(2, 0, 1)[None]
    x = x + functional.interpolate(grid, (rows, columns), mode="bilinear")[0].flatten(1).T
    width = config.width // config.heads
    turns = torch.empty(rows, columns, width // 2, dtype=torch.complex64)
    for pair in range(width // 2):
        speed = 10_000 ** (-4 * (pair // 2) / width)
        place = torch.arange(rows)[:, None].expand(rows, columns) if pair % 2 else torch.arange(columns)
        turns[:, :, pair] = torch.exp(1j * place * speed)
    turns = turns.reshape(-1, 1, width // 2)
    for layer in range(config.layers):
        base = f"vision_tower.encoder.blocks.{layer}."
        q, k, v = (
            product(rms(x, base + "norm0.weight"), base + "wqkv.weight")
            .unflatten(1, (3, -1, width))
            .unbind(1)
        )
        q, k = (
            torch.view_as_real(
                torch.view_as_complex(part.unflatten(-1, (-1, 2)).contiguous()) * turns
            ).flatten(-2)
            for part in (q, k)
        )
        scores = torch.einsum("qhd,khd->hqk", q, k) / width**0.5
        x = x + product(torch.einsum("hqk,khd->qhd", scores.softmax(-1), v).flatten(1), base + "wo.weight")
        up = functional.gelu(
            product(rms(x, base + "norm1.weight"), base + "mlp.fc0.weight"), approximate="tanh"
        )
        x = x + product(up, base + "mlp.fc1.weight")
    x = rms(x, "vision_tower.encoder.final_layernorm.weight").unflatten(0, (rows, columns))
    squares = [
        x[row : row + 2, column : column + 2].flatten()
        for row in range(0, rows, 2)
        for column in range(0, columns, 2)
    ]
    x = functional.gelu(product(torch.stack(squares), "mm_projector.proj.0.weight"))
    return rms(product(x, "mm_projector.proj.2.weight"), "mm_projector.post_norm.weight", 1e-5)


def test_k3s_kind_is_what_it_says_plainly(towers, sizes, source, canvases) -> None:
    config, get = towers["k3"], source("k3").tensor
    for pictures in sizes.values():
        found = encode(canvases(pictures), build_vision(config, get), config, REFERENCE, torch.float32)
        for canvas, ours in zip(canvases(pictures), found, strict=True):
            torch.testing.assert_close(ours, plainly(canvas, config, get), rtol=0, atol=2e-5)


@pytest.mark.parametrize("name", ["k2.5", "k3"])
@settings(max_examples=10, deadline=None)
@given(sizes=st.lists(st.tuples(st.integers(1, 5), st.integers(1, 5)), min_size=1, max_size=4))
def test_packed_is_one_by_one(towers, source, canvases, name: str, sizes) -> None:
    config, pictures = towers[name], canvases(sizes)
    weights = build_vision(config, source(name).tensor)
    together = encode(pictures, weights, config, REFERENCE, torch.float32)
    assert [one.shape for one in together] == [(rows * columns, 64) for rows, columns in sizes]
    for canvas, packed in zip(pictures, together, strict=True):
        (alone,) = encode([canvas], weights, config, REFERENCE, torch.float32)
        torch.testing.assert_close(packed, alone, rtol=0, atol=1e-5)


def test_where_a_patch_stands_matters(towers, source, canvases) -> None:
    config = towers["k3"]
    weights = build_vision(config, source("k3").tensor)
    (canvas,) = canvases([(2, 3)])
    turned = canvas.flip(0).contiguous()
    one, two = encode([canvas, turned], weights, config, REFERENCE, torch.float32)
    assert (one - two).abs().max() > 1e-2
    assert (one - two.flip(0)).abs().max() > 1e-2
