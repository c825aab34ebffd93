"""The Triton kernels on this machine's GPU: a small model against the reference, each kernel's time, tokens a second.

    python bench/engine_gpu.py [--json FILE] [--seconds 180] [--small]

Figures are shares of what the same GPU does in the same run: bytes that a kernel has to read against a plain copy,
floating-point operations against a large bf16 product. Each time is the median of 11 replays of a CUDA graph, with the
cache emptied before each. Weights are random; shapes are those of K3.1-Pro and of Kimi-Linear-48B. `--small` takes tiny
shapes, to try the script.
"""

from __future__ import annotations

import argparse
import json
import statistics
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import torch
from torch import Tensor

from engine.batch import Batch
from engine.cache.pools import Pools
from engine.config import K3_1_PRO, KIMI_LINEAR_48B, Indexer, ModelConfig
from engine.model import Model
from engine.step import Steps
from engine.weights import names
from engine.weights.build import build
from kernels.dispatch import REFERENCE, select
from kernels.layout import Sequences

BF16, FP32 = torch.bfloat16, torch.float32
PAGE = 64


@dataclass(frozen=True)
class Case:
    """A kernel's work: what it has to read and write, and its multiplications and additions."""

    name: str
    run: Callable[[], object]
    bytes: float
    flops: float = 0.0


def timed(run: Callable[[], object]) -> float:
    """Seconds of one run, on a cold cache."""
    run()  # compiles
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        run()
    other = torch.empty(256 << 20, dtype=torch.uint8, device="cuda")
    found = []
    for _ in range(11):
        other.zero_()
        begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        begin.record()
        graph.replay()
        end.record()
        end.synchronize()
        found.append(begin.elapsed_time(end) / 1e3)
    return statistics.median(found)


def roofs(small: bool) -> tuple[float, float]:
    """Bytes a second of a copy (read and written), operations a second of a bf16 product."""
    size, side = (1 << 24, 512) if small else (1 << 31, 8192)
    one, two = (torch.empty(size, dtype=torch.uint8, device="cuda") for _ in range(2))
    a, b = (torch.randn(side, side, dtype=BF16, device="cuda") for _ in range(2))
    return 2 * size / timed(lambda: two.copy_(one)), 2 * side**3 / timed(lambda: a @ b)


def sequences(new: int, length: int, count: int = 1) -> Sequences:
    """`count` alike: `new` tokens each, `length` with them, every one on its own pages."""
    pages = -(-length // PAGE)
    table = torch.randperm(pages * count, dtype=torch.int32).view(count, pages)
    return Sequences.of([new] * count, [length] * count, list(range(count)), table).to("cuda")


def drawn(*shape: int, dtype: torch.dtype = BF16, size: float = 1.0) -> Tensor:
    return torch.randn(shape, dtype=dtype, device="cuda") * size


def codes(count: int, out: int, into: int) -> tuple[Tensor, Tensor]:
    packed = torch.randint(0, 256, (count, out, into // 2), dtype=torch.uint8, device="cuda")
    return packed, torch.randint(118, 121, (count, out, into // 32), dtype=torch.uint8, device="cuda")


def cases(config: ModelConfig, rows: int, contexts: tuple[int, ...]) -> Iterator[Case]:
    """Decode: one row, and 16. Prefill: `rows` of one sequence."""
    ops, hidden, width = select("cuda"), config.hidden, config.kda_width
    heads, d, latent, inter = config.kda_heads, config.kda_dim, config.expert_width, config.expert_inter
    assert config.indexer is not None
    weight, router = drawn(width, hidden, size=0.01), drawn(config.experts, hidden, size=0.01)
    parts = [codes(config.experts, *shape) for shape in ((inter, latent), (inter, latent), (latent, inter))]
    an_expert = 3 * inter * latent * 17 / 32
    for n in (1, 16, rows):
        x = drawn(n, hidden)
        yield Case(
            f"linear {n}", lambda x=x: ops.linear(x, weight), weight.numel() * 2, 2 * n * weight.numel()
        )
        yield Case(
            f"route {n}",
            lambda x=x: ops.route(x, router, None, config.top_k, 1.0, True),
            router.numel() * 2,
            2 * n * router.numel(),
        )
        ids = torch.rand(n, config.experts, device="cuda").topk(config.top_k).indices.int()
        shares, z = torch.rand(n, config.top_k, device="cuda"), drawn(n, latent)
        yield Case(
            f"experts {n}",
            lambda z=z, ids=ids, shares=shares: ops.experts(z, ids, shares, *parts, config.glu),
            ids.unique().numel() * an_expert,
            6 * n * config.top_k * inter * latent,
        )
        streams, score = [drawn(n, hidden) for _ in range(9)], drawn(hidden, dtype=FP32)
        yield Case(
            f"attn_res {n}",
            lambda streams=streams, score=score: ops.attn_res(streams, score, 1e-5),
            20 * n * hidden,
        )
    a_log, bias = torch.zeros(heads, device="cuda"), torch.zeros(width, device="cuda")
    for n, count in ((1, 1), (1, 16), (rows, 1)):
        s = sequences(n, max(n, PAGE), count)
        total = n * count
        qkv, decay, beta = drawn(total, 3 * width), drawn(total, width), drawn(total, heads)
        states, kept = (
            torch.zeros(count, heads, d, d, device="cuda"),
            drawn(count, 3 * width, config.conv - 1),
        )
        filters = drawn(3 * width, config.conv)
        name = f"{total}" if n == 1 else f"{n} prefill"
        a_token = 2 * heads * (3 * d * d + 5 * 64 * d) if n > 1 else 6 * heads * d * d
        yield Case(
            f"kda {name}",
            lambda a=(qkv, decay, beta), states=states, s=s: ops.kda(*a, a_log, bias, -5.0, states, s),
            2 * states.numel() * 4 + total * (qkv.shape[1] + 3 * width) * 2,
            total * a_token,
        )
        yield Case(
            f"conv {name}",
            lambda a=(qkv, filters, kept), s=s: ops.causal_conv(*a, s),
            2 * qkv.numel() * 2 + 2 * kept.numel() * 2,
        )
    yield from attention_cases(config, rows, contexts)


def attention_cases(config: ModelConfig, rows: int, contexts: tuple[int, ...]) -> Iterator[Case]:
    ops, indexer = select("cuda"), config.indexer
    assert indexer is not None
    deepest = -(-max(contexts) // PAGE)
    latents = drawn(deepest, PAGE, config.latent_width)
    keys = drawn(deepest, PAGE, indexer.dim)
    scale = (config.nope + config.shared_key) ** -0.5
    heads, rank, top = config.heads, config.kv_lora, indexer.top_k
    for n, length in [*((1, context) for context in contexts), (rows, min(contexts[-1], 16 * rows))]:
        s = sequences(n, length)
        q, w = drawn(n, indexer.heads * indexer.dim), drawn(n, indexer.heads)
        a_pass = (length - n / 2) * n
        yield Case(
            f"index_topk {n} of {length}",
            lambda q=q, w=w, s=s: ops.index_topk(q, w, keys, s, top),
            length * indexer.dim * 2,
            2 * a_pass * indexer.heads * indexer.dim,
        )
        absorbed = drawn(n, heads, config.latent_width, dtype=FP32)
        chosen = (
            torch.rand(n, length - n, device="cuda").topk(min(top, length - n)).indices.sort().values.int()
        )
        yield Case(
            f"mla sparse {n} of {length}",
            lambda q=absorbed, s=s, chosen=chosen: ops.mla_attention(q, latents, s, chosen, rank, scale),
            min(n * chosen.shape[1], length) * config.latent_width * 2,
            2 * n * chosen.shape[1] * heads * (config.latent_width + rank),
        )
    s, absorbed = sequences(1, contexts[0]), drawn(1, heads, config.latent_width, dtype=FP32)
    yield Case(
        f"mla dense 1 of {contexts[0]}",
        lambda: ops.mla_attention(absorbed, latents, s, None, rank, scale),
        contexts[0] * config.latent_width * 2,
        2 * contexts[0] * heads * (config.latent_width + rank),
    )


class OnDevice:
    """Random weights in bf16 and MXFP4, drawn where they are used."""

    def __init__(self, config: ModelConfig) -> None:
        self.config, self.shapes = config, dict(names.trunk(config))

    def tensor(self, name: str) -> Tensor:
        shape = self.shapes[name]
        if name.endswith(("A_log", "dt_bias", "bias")):
            return torch.zeros(shape, device="cuda")
        if name.endswith("norm.weight"):
            return torch.ones(shape, dtype=BF16, device="cuda")
        return drawn(*shape, size=shape[-1] ** -0.5)

    def stacked(self, layer: int, part: str) -> tuple[Tensor, ...]:
        inner, width = self.config.expert_inter, self.config.expert_width
        return codes(self.config.experts, *((width, inner) if part == "w2" else (inner, width)))


def speeds(config: ModelConfig, context: int, prefill: int) -> dict[str, float]:
    """Tokens a second of a whole model on random weights: prefill of one text, decode of one and of 16."""
    model = Model(config, build(config, OnDevice(config)), select("cuda"), BF16)
    made: dict[str, float] = {}
    pools = Pools.allocate(config, 16 * -(-(context + PAGE) // PAGE), 16, dtype=BF16, device="cuda")
    s = sequences(prefill, prefill)
    batch = Batch(torch.zeros(prefill, dtype=torch.int64, device="cuda"), s, s.starts[1:].long() - 1, prefill)
    for _ in range(2):
        torch.cuda.synchronize()
        begin = time.perf_counter()
        model.forward(batch, pools)
        torch.cuda.synchronize()
        made[f"prefill {prefill}"] = prefill / (time.perf_counter() - begin)
    for count in (1, 16):
        steps, rounds = Steps(model, pools), 20
        full = sequences(1, context + PAGE, count)
        wanted = torch.arange(count, device="cuda")
        for at in range(rounds + 3):
            if at == 3:
                torch.cuda.synchronize()
                begin = time.perf_counter()
            lengths = torch.full((count,), context + at, dtype=torch.int32, device="cuda")
            s = Sequences(full.starts, lengths, full.slots, full.table, True)
            logits = steps.forward(Batch(wanted % 7, s, wanted, context + at))
            logits.argmax(-1).tolist()
        made[f"decode {count} at {context}"] = rounds * count / (time.perf_counter() - begin)
    return made


def agreement() -> float:
    """A tiny K3.1 with every kind of layer against the reference on the CPU: the largest difference of a logit."""
    from engine.weights.random import RandomSource

    config = tiny()
    source = RandomSource(config, mxfp4=True)
    tokens = torch.tensor([(7 * n * n + 3 * n) % 97 for n in range(90)])
    s = Sequences.of([90], [90], [0], torch.arange(6, dtype=torch.int32).flip(0)[None])
    found = []
    for device, ops in (("cpu", REFERENCE), ("cuda", select("cuda", "triton-exact"))):
        model = Model(config, build(config, Moved(source, device)), ops)
        pools = Pools.allocate(config, 6, 1, device=device, page=16)
        batch = Batch(tokens.to(device), s.to(device), torch.arange(90, device=device), 90)
        found.append(model.forward(batch, pools).cpu())
    return (found[0] - found[1]).abs().max().item()


class Moved:
    """A source's weights on a device."""

    def __init__(self, source, device: str) -> None:
        self.source, self.device = source, device

    def tensor(self, name: str) -> Tensor:
        return self.source.tensor(name).to(self.device)

    def stacked(self, layer: int, part: str) -> tuple[Tensor, ...]:
        return tuple(tensor.to(self.device) for tensor in self.source.stacked(layer, part))


def tiny() -> ModelConfig:
    return replace(
        K3_1_PRO, name="tiny", hidden=64, layers=5, vocab=97, full=(3, 4), kda_heads=2, kda_dim=16, heads=2, q_lora=32,
        kv_lora=32, nope=16, shared_key=8, v_dim=16, indexer=Indexer(4, 16, 24), dense_inter=96, experts=8, top_k=2,
        expert_inter=32, latent=32, attn_res_block=3, vision=None,
    )  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--json", type=Path)
    parser.add_argument("--seconds", type=float, default=180, help="no new measurement is begun after these")
    parser.add_argument("--small", action="store_true")
    chosen = parser.parse_args()
    until = time.monotonic() + chosen.seconds
    made: dict = {"gpu": torch.cuda.get_device_name(), "torch": torch.__version__}
    made["largest difference of a logit"] = agreement()
    bandwidth, arithmetic = roofs(chosen.small)
    made["copy GB/s"], made["bf16 TFLOP/s"] = bandwidth / 1e9, arithmetic / 1e12
    print(json.dumps(made, indent=1), flush=True)
    layer = tiny() if chosen.small else K3_1_PRO
    contexts = (128, 512) if chosen.small else (8192, 131_072, 1_048_576)
    rows = 64 if chosen.small else 2048
    models = whole(chosen.small)
    made["kernels"], made["tokens/s"] = {}, {}
    print(f"{'kernel':34} {'µs':>10} {'GB/s':>8} {'of copy':>8} {'TFLOP/s':>8} {'of bf16':>8}")
    for case in cases(layer, rows, contexts):
        if time.monotonic() > until - 60 * len(models):
            print("no time for the remaining kernels")
            break
        took = timed(case.run)
        read, worked = case.bytes / took, case.flops / took
        made["kernels"][case.name] = {
            "us": took * 1e6, "of copy": read / bandwidth, "of bf16": worked / arithmetic
        }  # fmt: skip
        print(
            f"{case.name:34} {took * 1e6:10.1f} {read / 1e9:8.0f} {read / bandwidth:8.1%}"
            f" {worked / 1e12:8.1f} {worked / arithmetic:8.1%}",
            flush=True,
        )
    torch.cuda.empty_cache()
    for name, config, context, prefill in models:
        if time.monotonic() > until:
            print(f"no time for {name}")
            continue
        made["tokens/s"][name] = speeds(config, context, prefill)
        print(name, {what: round(speed, 1) for what, speed in made["tokens/s"][name].items()}, flush=True)
        torch.cuda.empty_cache()
    if chosen.json:
        chosen.json.parent.mkdir(parents=True, exist_ok=True)
        chosen.json.write_text(json.dumps(made, indent=1) + "\n")


def whole(small: bool) -> list[tuple[str, ModelConfig, int, int]]:
    """(name, shape, tokens before, tokens of a prefill)."""
    if small:
        return [("tiny", tiny(), 128, 64)]
    first = replace(K3_1_PRO, layers=4, full=(3,), vision=None, vocab=32_768)
    return [
        ("kimi-linear-48b", KIMI_LINEAR_48B, 4096, 4096),
        ("k3.1-pro, the first 4 of its 93 layers, a fifth of its words", first, 8192, 4096),
    ]


if __name__ == "__main__":
    main()
