"""The card of a checkpoint that is shipped: written from what its run left behind, so that it never disagrees with it.

Figures come in as a JSON file, made by whoever measured: {"measured": [{"what", "value", "beside", "command"}, …],
"notes": […]}, all texts; `beside` (what the value is compared with), `command` and `notes` may be left out.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec

from engine.config import ModelConfig
from engine.errors import ConfigError
from engine.prompt.repair import TAUGHT
from engine.sizes import human
from engine.train.corpus.lock import Package
from engine.train.log import lines

LICENCE = "apache-2.0"
"""Ours, which nobody has to agree to."""
MADE = "made.json"
"""Beside the weights: which version this is, and which questions it was taught."""
_LAST = 100
"""Steps whose losses are averaged."""


class Figure(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    what: str
    value: str
    beside: str = ""
    command: str = ""


class Measured(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    measured: tuple[Figure, ...] = ()
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Shipped:
    """What a card tells. parameters: in all. size: bytes of the weights' files. step: of the run's checkpoint."""

    config: ModelConfig
    version: int
    step: int
    parameters: int
    size: int


def measured(path: Path | None) -> Measured:
    """Errors: ConfigError for a file that holds no figures."""
    if path is None:
        return Measured()
    try:
        return msgspec.json.decode(path.read_bytes(), type=Measured, strict=True)
    except (OSError, msgspec.MsgspecError) as error:
        raise ConfigError(f"{path}: no figures for a card: {error}") from error


def made(version: int) -> dict[str, int]:
    """Of `MADE`."""
    return {"version": version, "questions": TAUGHT}


def card(shipped: Shipped, run: Path, corpus: Sequence[Package], figures: Measured) -> str:
    """README.md, front matter first. run: its folder, with config.toml and log.jsonl. Errors: ConfigError."""
    try:
        settings = (run / "config.toml").read_text("utf-8")
        seed = tomllib.loads(settings).get("train", {}).get("seed", 0)
    except (OSError, ValueError) as error:
        raise ConfigError(f"{run}: its config.toml can't be read: {error}") from error
    log = [line for line in lines(run) if line["step"] <= shipped.step]
    parts = [
        ["---", f"license: {LICENCE}", "language: [code, en]", "pipeline_tag: text-generation", "---"],
        [f"# {shipped.config.name or 'mini'}, version {shipped.version}", "", *_what(shipped)],
        ["## Measured", "", *_figures(figures)],
        ["## Training", "", *_training(shipped, log), "", "```toml", settings.strip(), "```"],
        ["## To repeat it", "", *_repeat(seed)],
        ["## Data", "", *_data(corpus)],
    ]
    return "\n\n".join("\n".join(part) for part in parts) + "\n"


def _what(shipped: Shipped) -> Iterator[str]:
    config = shipped.config
    yield (
        "Ranks edits of source code, and writes some, for `deskagent fix`. It was trained from scratch for this one"
        " task and is of no use for conversation."
    )
    yield ""
    yield (
        f"{config.layers} layers of width {config.hidden}, {len(config.full)} of them with full attention (sparse, by"
        f" an indexer) and the others KDA; {config.experts} routed experts in MXFP4, {config.top_k} a token;"
        f" {shipped.parameters / 1e6:.1f}M parameters in {human(shipped.size)}; a vocabulary of {config.vocab:,}."
    )


def _figures(figures: Measured) -> Iterator[str]:
    if not figures.measured:
        yield "Nothing was measured yet."
    else:
        yield from ("| | this checkpoint | beside it |", "|---|---|---|")
    for figure in figures.measured:
        yield f"| {_cell(figure.what)} | {_cell(figure.value)} | {_cell(figure.beside)} |"
    commands = list(dict.fromkeys(figure.command for figure in figures.measured if figure.command))
    if commands:
        yield from ("", "By:", "", "```sh", *commands, "```")
    for note in figures.notes:
        yield from ("", note)


def _training(shipped: Shipped, log: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    steps = [line for line in log if "loss" in line]
    tokens, learnt = (sum(line.get(key, 0) for line in steps) for key in ("tokens", "learnt"))
    hours = sum(line.get("seconds", 0.0) for line in steps) / 3600
    yield (
        f"{shipped.step:,} steps, {tokens / 1e6:.1f}M tokens of which {learnt / 1e6:.1f}M were learnt from, in"
        f" {hours:.1f} hours."
    )
    held = [line for line in log if "held" in line]
    if not steps:
        return
    yield from ("", "| loss, nats a token | learnt from | held out |", "|---|---|---|")
    last, out = _means(steps[-_LAST:]), held[-1]["held"].get("kinds", {}) if held else {}
    for kind in sorted({*last, *out}):
        yield f"| {kind} | {_nats(last.get(kind))} | {_nats(out.get(kind))} |"
    yield ""
    yield (
        f"Learnt from: the mean of the last {min(_LAST, len(steps))} steps."
        + (
            f" Held out: at step {held[-1]['step']:,}, on packages that nothing was learnt from."
            if held
            else ""
        )
    )


def _means(steps: Sequence[Mapping[str, Any]]) -> dict[str, float]:
    found: dict[str, list[float]] = {}
    for line in steps:
        for kind, loss in line.get("kinds", {}).items():
            found.setdefault(kind, []).append(loss)
    return {kind: sum(losses) / len(losses) for kind, losses in found.items()}


def _repeat(seed: int) -> Iterator[str]:
    yield f"From the repository's root, with the settings above as `settings.toml` (seed {seed}):"
    yield from (
        "",
        "```sh",
        "python -m engine.train settings.toml RUN && python -m engine.train.export RUN DST",
        "```",
    )


def _data(corpus: Sequence[Package]) -> Iterator[str]:
    learnt = [package for package in corpus if package.use == "train"]
    yield (
        f"Source texts of {len(learnt)} packages, and of {len(corpus) - len(learnt)} more that were held out for"
        " measuring, all under permissive licences; bugs were put into them by program, and small changes between their"
        " releases, named in `engine/train/edits.lock` of the repository, are learnt as mends. The licences"
        " are in `assets/train/licences.xz`."
    )
    yield from ("", "| package | version | licence | use |", "|---|---|---|---|")
    for package in sorted(corpus, key=lambda package: package.name):
        yield f"| {package.name} | {package.version} | {_cell(package.licence)} | {package.use} |"


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")


def _nats(value: float | None) -> str:
    return "" if value is None else f"{value:.2f}"
