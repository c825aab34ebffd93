"""The engine against llama.cpp on the same random weights, side by side in one run, and against itself.

    python bench/engine_speed.py [--llama-python PYTHON] [--sizes small,big] [--threads N] [--prompt 512] [--decode 64]

Rounds of ours and of llama.cpp take turns: the figures are medians of the rounds' ratios of tokens/s. The trunk is bf16
for both, the experts MXFP4. PYTHON is one that has llama-cpp-python; without it those ratios are left out. Then `score`
of many continuations of one context against each one whole, importing the engine against importing torch, and resident
memory against what `predict` says. Our side needs the extras `engine` and `gguf`'s gguf. Prints JSON.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import torch

from engine.api import Caches, Engine, Request
from engine.config import K3, ModelConfig
from engine.generate.sample import GREEDY
from engine.model import Model
from engine.weights.bare import measured
from engine.weights.build import build
from engine.weights.checkpoint import Checkpoint
from engine.weights.gguf import export
from engine.weights.inspect import predict, resident
from engine.weights.random import RandomSource
from engine.weights.save import save
from kernels.dispatch import select

SIZES = {  # about 50 MB and 1 GB
    "small": replace(
        K3, name="small", hidden=512, layers=5, vocab=8192, full=(3, 4), kda_heads=4, kda_dim=128, heads=4, q_lora=256,
        kv_lora=128, nope=64, shared_key=32, v_dim=64, dense_inter=1536, experts=32, top_k=4, expert_inter=256,
        latent=256, attn_res_block=4, context=65536, vision=None, bos=0, eos=(1,),
    ),
    "big": replace(
        K3, name="big", hidden=1024, layers=9, vocab=32768, full=(3, 7, 8), kda_heads=8, kda_dim=128, heads=8,
        q_lora=512, kv_lora=256, nope=128, shared_key=64, v_dim=128, dense_inter=4096, experts=96, top_k=8,
        expert_inter=768, latent=768, attn_res_block=4, context=65536, vision=None, bos=0, eos=(1,),
    ),
}  # fmt: skip


class Quick(RandomSource):
    """Random weights whose experts are drawn packed: a gigabyte in seconds."""

    def stacked(self, layer: int, part: str) -> tuple[torch.Tensor, ...]:
        inner, width = self.config.expert_inter, self.config.expert_width
        out, into = (width, inner) if part == "w2" else (inner, width)
        drawn = torch.Generator().manual_seed(layer * 3 + ord(part[-1]))
        count = self.config.experts
        packed = torch.randint(0, 256, (count, out, into // 2), dtype=torch.uint8, generator=drawn)
        return packed, torch.randint(118, 122, (count, out, into // 32), dtype=torch.uint8, generator=drawn)


class Ours:
    def __init__(self, folder: Path, prompt: int, decode: int) -> None:
        checkpoint = Checkpoint.open(folder)
        model = Model(checkpoint.config, build(checkpoint.config, checkpoint), select())
        self.engine = Engine(model, Caches(pages=(prompt + decode) // 64 + 40, slots=9, ram=0))
        self.tokens = [(7 * n * n + 3 * n + 2) % model.config.vocab for n in range(prompt)]
        self.decode = decode

    def times(self) -> tuple[float, float]:
        """Seconds of a prompt with its first token, and of `decode` tokens after it."""
        begin = time.perf_counter()
        request = Request(self.tokens, GREEDY, self.decode + 1, frozenset(), speculated=False)
        answer = self.engine.generate(request)
        next(answer)
        first = time.perf_counter() - begin
        answer.read()
        return first, time.perf_counter() - begin - first

    def python_share(self) -> float:
        """What of this thread's time a token holds beside the replayed kernels."""
        self.times()
        spent = [0.0]
        for bound in self.engine.scheduler.steps._bound.values():
            bound.replay = _clocked(bound.replay, spent)
        answer = self.engine.generate(
            Request(self.tokens, GREEDY, self.decode + 1, frozenset(), speculated=False)
        )
        next(answer)
        next(answer)
        spent[0], begin = 0.0, time.thread_time()
        answer.read()
        return 1 - spent[0] / (time.thread_time() - begin)


def _clocked(replay: Callable, spent: list[float]) -> Callable:
    def run() -> torch.Tensor:
        begin = time.thread_time()
        made = replay()
        spent[0] += time.thread_time() - begin
        return made

    return run


class Theirs:
    def __init__(self, python: str, path: Path, threads: int, prompt: int, decode: int) -> None:
        script = Path(__file__).with_name("engine_llama.py")
        self._process = subprocess.Popen(
            [python, script, path, str(threads), str(prompt), str(decode)],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        )  # fmt: skip

    def times(self) -> tuple[float, float]:
        return self._ask("prefill"), self._ask("decode")

    def _ask(self, what: str) -> float:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        print(what, file=self._process.stdin, flush=True)
        return float(self._process.stdout.readline())

    def close(self) -> None:
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait()


def against_llama(
    python: str | None, folder: Path, config: ModelConfig, chosen: argparse.Namespace
) -> dict[str, float]:
    ours = Ours(folder, chosen.prompt, chosen.decode)
    ours.times()
    made = {"python's share of a token": ours.python_share()}
    ours = Ours(folder, chosen.prompt, chosen.decode)
    if python is not None:
        path = folder / "model.gguf"
        export(config, Quick(config, dtype=torch.bfloat16), path, trunk=torch.bfloat16)
        theirs = Theirs(python, path, chosen.threads, chosen.prompt, chosen.decode)
        theirs.times()
    rounds = []
    for _ in range(chosen.rounds):
        rounds.append((ours.times(), theirs.times() if python is not None else (float("nan"),) * 2))
    for number, (what, count) in enumerate((("prefill", chosen.prompt), ("decode", chosen.decode))):
        made[f"{what} tokens/s"] = count / min(mine[number] for mine, _ in rounds)
        if python is not None:
            made[f"llama.cpp {what} tokens/s"] = count / min(other[number] for _, other in rounds)
            ratios = [other[number] / mine[number] for mine, other in rounds]
            made[f"{what} / llama.cpp"] = statistics.median(ratios)
    if python is not None:
        theirs.close()
        path.unlink()
    return made


def scoring(folder: Path, count: int, whole: int) -> dict[str, float]:
    """`count` continuations of 30 tokens after 1,500 against each of them whole, of which `whole` are run."""
    ours = Ours(folder, 1530, 0)
    context = ours.tokens[:1500]
    random = torch.Generator().manual_seed(1)
    vocabulary = ours.engine.model.config.vocab
    continuations = torch.randint(0, vocabulary, (count, 30), generator=random).tolist()
    begin = time.perf_counter()
    together = ours.engine.score(context, continuations)
    shared = time.perf_counter() - begin
    begin = time.perf_counter()
    alone = [ours.engine.score(context, [one], cached=False)[0] for one in continuations[:whole]]
    each = (time.perf_counter() - begin) / whole
    worst = max(abs(one.total - two.total) for one, two in zip(alone, together, strict=False))
    return {
        "each whole / together": each * count / shared,
        "seconds together": shared,
        "largest difference": worst,
    }


def imports() -> dict[str, float]:
    spent: dict[str, list[float]] = {"import torch": [], "import engine.api": []}
    for _ in range(5):
        for line, found in spent.items():
            begin = time.perf_counter()
            subprocess.run([sys.executable, "-c", line], check=True)
            found.append(time.perf_counter() - begin)
    mine, other = min(spent["import engine.api"]), min(spent["import torch"])
    return {"import engine.api seconds": mine, "import torch seconds": other, "ratio": mine / other}


def memory(folder: Path) -> dict[str, float]:
    """In a process of its own: all weights read once, then what it holds against what was said before."""
    run = [sys.executable, __file__, "--resident", str(folder)]
    return json.loads(subprocess.run(run, check=True, capture_output=True, text=True).stdout)


def _resident(folder: Path) -> None:
    checkpoint = Checkpoint.open(folder)
    said = predict(checkpoint, 1024, sequences=2, process=measured()).total
    model = Model(checkpoint.config, build(checkpoint.config, checkpoint), select())
    engine = Engine(model, Caches(pages=32, slots=2, ram=0))
    engine.generate(Request(list(range(512)), GREEDY, 64, frozenset())).read()
    print(
        json.dumps({"resident MB": resident() / 1e6, "predicted MB": said / 1e6, "ratio": resident() / said})
    )


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--llama-python")
    parser.add_argument("--sizes", default="small,big")
    parser.add_argument("--threads", type=int, default=0, help="of both sides; 0 for all processors")
    parser.add_argument("--prompt", type=int, default=512)
    parser.add_argument("--decode", type=int, default=64)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--continuations", type=int, default=500)
    parser.add_argument(
        "--whole", type=int, default=3, help="continuations that are scored whole, to compare with"
    )
    parser.add_argument("--resident", type=Path, help=argparse.SUPPRESS)
    chosen = parser.parse_args()
    if chosen.resident is not None:
        return _resident(chosen.resident)
    from kernels.cpu import _native

    chosen.threads = _native.threads(chosen.threads)
    made: dict[str, object] = {"isa": _native.names()[0], "threads": chosen.threads, "import": imports()}
    for size in chosen.sizes.split(","):
        config = SIZES[size]
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            save(config, Quick(config, dtype=torch.bfloat16), folder)
            mine: dict[str, object] = {"MB": Checkpoint.open(folder).bytes() / 1e6}
            mine |= against_llama(chosen.llama_python, folder, config, chosen)
            if size == "small":
                mine["score"] = scoring(folder, chosen.continuations, chosen.whole)
            mine["memory"] = memory(folder)
        made[size] = mine
    print(json.dumps(made, indent=1, default=lambda number: number))
    return None


if __name__ == "__main__":
    main()
