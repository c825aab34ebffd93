"""What the Triton kernels need of a GPU, on a machine that has none: each is compiled for sm_90 in K3.1-Pro's shapes.

    python bench/engine_gpu_compile.py [--exact] [NAME …]

Prints registers, spilled bytes and shared memory of every kernel, and fails where one doesn't compile or asks for more
shared memory than a block can have. Launches are caught and compiled in their place; nothing is computed.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

os.environ.pop("TRITON_INTERPRET", None)  # asked when the kernels are imported

import torch
import triton
from torch import Tensor
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource
from triton.runtime.jit import JITFunction

from engine.config import K3_1_PRO as C
from kernels.layout import Sequences
from kernels.triton.ops import table

TARGET = GPUTarget("cuda", 90, 32)
SHARED = 227 << 10
"""Bytes that a block may have on sm_90."""
TYPES = {torch.float32: "*fp32", torch.bfloat16: "*bf16", torch.int32: "*i32", torch.uint8: "*u8"}
BF16, FP32 = torch.bfloat16, torch.float32


class Compiler:
    """Stands where a kernel is launched."""

    def __init__(self) -> None:
        self.seen: set[str] = set()
        self.failed: list[str] = []

    def launch(self, kernel: JITFunction, *args, grid, warmup=False, **named) -> None:
        options = {name: named.pop(name) for name in ("num_warps", "num_stages") if name in named}
        given = dict(zip([param.name for param in kernel.params], args, strict=False)) | named
        signature, constants, attributes = {}, {}, {}
        for at, param in enumerate(kernel.params):
            value = given[param.name]
            if param.is_constexpr or (type(value) is int and value == 1):
                signature[param.name], constants[(at,)] = "constexpr", value
                continue
            signature[param.name] = _type(value)
            if isinstance(value, Tensor) or (type(value) is int and value % 16 == 0):
                attributes[(at,)] = [["tt.divisibility", 16]]
        name = f"{kernel.fn.__module__.removeprefix('kernels.triton.')}.{kernel.fn.__name__}"
        key = f"{name} {signature} {constants} {options}"
        if key in self.seen:
            return
        self.seen.add(key)
        source = ASTSource(fn=kernel, signature=signature, constexprs=constants, attrs=attributes)
        made = triton.compile(source, target=TARGET, options=options)
        shared = made.metadata.shared
        print(f"{name:24} {_usage(made.asm['cubin'])} shared {shared}", flush=True)
        if shared > SHARED:
            self.failed.append(f"{name} asks for {shared} bytes of shared memory")


def _type(value: object) -> object:
    if isinstance(value, Tensor):
        return TYPES[value.dtype]
    if isinstance(value, tuple):
        return tuple(_type(part) for part in value)
    return {bool: "i1", int: "i32", float: "fp32"}[type(value)]


def _usage(binary: bytes) -> str:
    with tempfile.NamedTemporaryFile(suffix=".cubin") as file:
        file.write(binary)
        file.flush()
        tool = Path(triton.__file__).parent / "backends/nvidia/bin/cuobjdump"
        said = subprocess.run([tool, "-res-usage", file.name], capture_output=True, text=True).stdout
    found = re.search(r"REG:(\d+) STACK:(\d+)", said)
    return f"registers {found[1]:>3} spilled {found[2]:>4}" if found else "no usage"


def made(*shape: int, dtype: torch.dtype = BF16) -> Tensor:
    return torch.empty(shape, dtype=dtype)


def operations(ops: dict, n: int) -> dict[str, Callable[[], object]]:
    """One of each, on `n` rows: those of as many sequences if it is one."""
    s = Sequences.of([n], [5000], [0], torch.zeros(1, 128, dtype=torch.int32))
    width, heads, top = C.kda_width, C.heads, 2048
    pool, keys = made(128, 64, C.latent_width), made(128, 64, 128)
    chosen = torch.zeros(n, top, dtype=torch.int32)
    inner, latent = C.expert_inter, C.expert_width
    parts = [
        (
            made(2, out, into // 2, dtype=torch.uint8),
            made(2, out, into // 32, dtype=torch.uint8),
        )
        for out, into in ((inner, latent), (inner, latent), (latent, inner))
    ]
    absorbed, mixed = made(n, heads, C.latent_width, dtype=FP32), made(n, heads, C.kv_lora, dtype=FP32)
    square = (1, C.kda_heads, C.kda_dim, C.kda_dim)
    x, vector = made(n, C.hidden), made(C.hidden, dtype=FP32)
    small, log = made(128, dtype=FP32), made(C.kda_heads, dtype=FP32)
    ids = torch.zeros(n, 2, dtype=torch.int32)
    return {
        "rms_norm": lambda: ops["rms_norm"](x, made(C.hidden), 1e-5),
        "attn_res": lambda: ops["attn_res"]([x] * 9, vector, 1e-5),
        "causal_conv": lambda: ops["causal_conv"](
            made(n, 3 * width), made(3 * width, 4), made(1, 3 * width, 3), s
        ),
        "kda": lambda: ops["kda"](
            made(n, 3 * width), made(n, width), made(n, C.kda_heads), log, made(width, dtype=FP32), -5.0,
            made(*square, dtype=FP32), s,
        ),
        "gated_norm": lambda: ops["gated_norm"](
            made(n, C.kda_heads, C.kda_dim, dtype=FP32), made(C.kda_dim), made(n, width), 1e-5
        ),
        "write_latents": lambda: ops["write_latents"](made(n, C.latent_width), made(C.kv_lora), 1e-5, pool, s),
        "write_keys": lambda: ops["write_keys"](made(n, 128), small, small, 1e-6, keys, s),
        "index_topk": lambda: ops["index_topk"](made(n, 32 * 128), made(n, 32), keys, s, top),
        "absorb": lambda: ops["absorb"](made(n, heads * 192), made(heads, 128, C.kv_lora)),
        "sparse": lambda: ops["mla_attention"](absorbed, pool, s, chosen, C.kv_lora, 0.07),
        "dense": lambda: ops["mla_attention"](absorbed, pool, s, None, C.kv_lora, 0.07),
        "expand": lambda: ops["expand"](mixed, made(heads, 128, C.kv_lora), BF16),
        "gated": lambda: ops["gated"](x, x),
        "glu": lambda: ops["glu"](made(n, 8192), C.glu),
        "linear": lambda: ops["linear"](x, made(1536, C.hidden)),
        "route": lambda: ops["route"](x, made(C.experts, C.hidden), log, C.top_k, 1.0, True),
        "experts": lambda: ops["experts"](made(n, latent), ids, torch.ones(n, 2), *parts, C.glu),
    }  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--exact", action="store_true")
    parser.add_argument("names", nargs="*")
    chosen = parser.parse_args()
    compiler = Compiler()
    JITFunction.run = lambda kernel, *args, **named: compiler.launch(kernel, *args, **named)
    ops = table(chosen.exact)
    for n in (1, 64):
        for name, run in operations(ops, n).items():
            if chosen.names and name not in chosen.names:
                continue
            try:
                run()
            except triton.CompilationError as error:
                compiler.failed.append(f"{name} of {n} doesn't compile: {error.__cause__ or error}")
    if compiler.failed:
        sys.exit("\n".join(compiler.failed))


if __name__ == "__main__":
    main()
