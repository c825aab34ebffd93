"""`deskagent model`: look into checkpoints, verify them, quantise them, export them."""

from __future__ import annotations

import json
import os
import sys
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import click

from deskagent import paths
from deskagent.cli.catalogue import add, check, list_, use
from deskagent.cli.engine_extra import engine
from deskagent.cli.licence import agree
from deskagent.cli.regress import regress
from deskagent.errors import UsageError
from deskagent.terminal.text import printable

if TYPE_CHECKING:
    from engine.weights.inspect import Memory, Row
    from engine.weights.verify import Verdict

_FOLDER = click.Path(exists=True, file_okay=False, path_type=Path)
_accept = click.option(
    "--accept-license", is_flag=True, help="Agree to the licence that the checkpoint is under."
)


@click.group()
def model() -> None:
    """Your models; checkpoints looked into, verified, quantised, exported, compared."""


for command in (regress, list_, add, use, check):
    model.add_command(command)


@model.command()
@click.argument("folder", type=_FOLDER)
@click.option(
    "--context", type=click.IntRange(1), default=32_768, show_default=True, help="Tokens a sequence."
)
@click.option("--sequences", type=click.IntRange(1), default=1, show_default=True, help="Sequences at once.")
@click.option("--device", help="Which device computes, as cpu or cuda:0; else the best that it fits on.")
@click.option("--memory", type=click.FloatRange(0), help="GB of main memory at most; else what is free.")
@click.option("--json", "as_json", is_flag=True, help="Print a JSON object.")
def inspect(
    folder: Path, context: int, sequences: int, device: str | None, memory: float | None, as_json: bool
) -> None:
    """Show what the checkpoint in FOLDER holds, the memory that running it takes, and where it would lie on this
    machine. Nothing is loaded."""
    with engine():
        from engine.cache.pools import PAGE
        from engine.errors import CapacityError
        from engine.offload.devices import devices
        from engine.offload.needs import needs
        from engine.offload.plan import plan
        from engine.weights.bare import measured
        from engine.weights.card import licence_of
        from engine.weights.checkpoint import Checkpoint
        from engine.weights.inspect import predict, table

        checkpoint = Checkpoint.open(folder)
        takes = predict(checkpoint, context, sequences, process=measured())
        rows, licence = table(checkpoint), licence_of(folder)
        try:
            there = devices(None if memory is None else int(memory * 1e9))
            words = plan(needs(checkpoint, -(-context // PAGE) * sequences, sequences), there, device).words()
        except CapacityError as error:
            words = [f"it doesn't fit: {error}"]
    if as_json:
        found = {"tensors": [asdict(row) for row in rows], "memory": asdict(takes) | {"total": takes.total}}
        click.echo(
            json.dumps(found | {"plan": words, "licence": licence.name if licence else None}, indent=2)
        )
        return
    config = checkpoint.config
    click.echo(printable(f"{config.name or folder.name}: {config.layers} layers, {len(config.full)} of full attention, "
                         f"{config.experts} experts of which {config.top_k} a token", newlines=False))  # fmt: skip
    if licence is not None:
        click.echo(
            f"licence: {printable(licence.name, newlines=False)} {printable(licence.link, newlines=False)}"
        )
    for line in (*_tensors(rows), "", f"memory for {sequences} × {context} tokens:", *_memory(takes)):
        click.echo(line)
    click.echo("\nplan for this machine:")
    for line in words:
        click.echo(line)


@model.command()
@click.argument("folder", type=_FOLDER)
def verify(folder: Path) -> None:
    """Read the checkpoint in FOLDER from end to end: hashes, shapes, numbers that are none. Exit code 1 if damaged."""

    def tell(verdict: Verdict) -> None:
        state = "damaged" if verdict.problems else "whole" if verdict.expected else "readable"
        click.echo(printable(f"{state:9} {verdict.sha256[:16]}  {verdict.file}", newlines=False))
        for problem in verdict.problems:
            click.echo(printable(f"          {problem}", newlines=False))

    with engine():
        from engine.weights.checkpoint import Checkpoint
        from engine.weights.verify import verify as verified

        verdicts = verified(Checkpoint(folder), tell)
    if not all(verdict.expected for verdict in verdicts):
        click.echo(
            "readable: sound as far as it can be read; there is no SHA256SUMS to compare with.", err=True
        )
    if any(verdict.problems for verdict in verdicts):
        sys.exit(1)


@model.command()
@click.argument("source", type=_FOLDER)
@click.argument("target", type=click.Path(file_okay=False, path_type=Path))
@click.option("--back", is_flag=True, help="From MXFP4 to BF16 instead.")
@_accept
def quantize(source: Path, target: Path, back: bool, accept_license: bool) -> None:
    """Write the checkpoint SOURCE with its routed experts in MXFP4 to the folder TARGET.

    Stopped at any point, the same command goes on where it was.
    """

    def tell(file: str, done: int, whole: int) -> None:
        click.echo(f"{100 * done // max(whole, 1):3} %  {file}")

    with engine():
        from engine.weights.quantize import dequantize
        from engine.weights.quantize import quantize as quantized

        agree(source, accepted=accept_license)
        (dequantize if back else quantized)(source, target, tell)


@model.command()
@click.argument("source", type=_FOLDER)
@click.argument("target", type=click.Path(dir_okay=False, path_type=Path))
@click.option("--widen", is_flag=True, help="Write the experts as float32.")
@_accept
def export(source: Path, target: Path, widen: bool, accept_license: bool) -> None:
    """Write the K3-shaped checkpoint SOURCE as the GGUF file TARGET, for llama.cpp."""
    if target.exists():
        raise UsageError(f"{target} exists already.", hint="Name another file.")
    with engine("gguf"):
        from engine.weights.checkpoint import Checkpoint
        from engine.weights.gguf import export as exported

        agree(source, accepted=accept_license)
        checkpoint = Checkpoint.open(source)
        part = target.with_name(f".{target.name}.part")
        try:
            words = exported(checkpoint.config, checkpoint, part, widen_experts=widen, vocabulary=source)
            part.replace(target)
        finally:
            part.unlink(missing_ok=True)
    if not words:
        click.echo(
            "note: the file has no vocabulary that llama.cpp knows, so it takes token ids alone", err=True
        )
    if checkpoint.config.vision is not None:
        click.echo(
            "note: the patch encoder and its projector stay out of the file, so it reads text alone", err=True
        )
    if checkpoint.config.indexer is not None:
        click.echo(
            "note: the format has no indexer, so llama.cpp attends to everything; "
            f"that is the same up to {checkpoint.config.indexer.top_k} tokens",
            err=True,
        )


@model.command()
@click.option("--json", "as_json", is_flag=True, help="Print a JSON array.")
def status(as_json: bool) -> None:
    """Show which checkpoint ranks edits in `fix`, and the engine's running processes: their requests, their memory, and
    what experts read from disk cost."""
    from deskagent.repair.model.find import AUTO, choose

    with engine("msgspec"):
        from msgspec import to_builtins

        from engine.process.client import status as state_of

        sockets = sorted(paths.runtime_dir().glob("*/engine.sock"))
        found = [state for socket in sockets if (state := state_of(socket.parent)) is not None]
    if as_json:
        click.echo(json.dumps([to_builtins(state) for state in found], indent=2))
        return
    chosen = choose(os.environ.get("DESKAGENT_MODEL") or AUTO)
    click.echo(printable(f"fix ranks by {chosen.folder or 'its priors alone'}: {chosen.why}", newlines=False))
    for state in found:
        does = f"{state.running} running, {state.waiting} waiting" if state.ready else "loading"
        click.echo(printable(f"{state.pid}  {state.checkpoint}", newlines=False))
        click.echo(f"  {does}; {_size(state.memory)} of memory")
        if state.experts:
            click.echo(f"  {_experts(**state.experts)}")
    if not found:
        click.echo("no engine is running")


def _experts(hits: int, misses: int, read: int, ahead: int, used: int, resident: int) -> str:
    return (
        f"experts from disk: {hits} of {hits + misses} asked for were in memory, {_size(read)} read, {_size(resident)}"
        f" held; of {ahead} read on a guess {used} were asked for next"
    )


def _tensors(rows: list[Row]) -> list[str]:
    lines = [f"{'kind':20} {'tensors':>8} {'size':>10}  types"]
    lines += [
        f"{row.kind:20} {row.tensors:8} {_size(row.bytes):>10}  {', '.join(row.dtypes)}" for row in rows
    ]
    return [
        *lines,
        f"{'all':20} {sum(row.tensors for row in rows):8} {_size(sum(row.bytes for row in rows)):>10}",
    ]


def _memory(memory: Memory) -> list[str]:
    parts = {**asdict(memory), "total": memory.total}
    return [f"{name:20} {_size(size):>19}" for name, size in parts.items()]


def _size(size: int) -> str:
    from engine.sizes import human

    return human(size)
