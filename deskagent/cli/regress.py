"""`deskagent model regress`: is a checkpoint as good as another, after quantising it, say."""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import click

from deskagent.cli.engine_extra import engine
from deskagent.cli.licence import agree
from deskagent.errors import UsageError
from deskagent.terminal.text import printable

if TYPE_CHECKING:
    from deskagent.repair.model.measure.regress import Compared, Figure
    from deskagent.repair.model.measure.suites import Suite

_FOLDER = click.Path(exists=True, file_okay=False, path_type=Path)


@click.command()
@click.argument("first", metavar="A", type=_FOLDER)
@click.argument("second", metavar="B", type=_FOLDER)
@click.option(
    "--suite", "wanted", multiple=True, metavar="SUITE", help="own (as if none is given), a file or a folder."
)
@click.option(
    "--tolerance", type=click.FloatRange(0), default=0.02, show_default=True,
    help="Share of a loss that may be added, and what a rank's figure may fall by.",
)  # fmt: skip
@click.option(
    "--count", type=click.IntRange(1), default=100, show_default=True, help="Cases a suite at most."
)
@click.option("--accept-license", is_flag=True, help="Agree to the licences that the checkpoints are under.")
@click.option("--json", "as_json", is_flag=True, help="Print a JSON object.")
def regress(
    first: Path,
    second: Path,
    wanted: tuple[str, ...],
    tolerance: float,
    count: int,
    accept_license: bool,
    as_json: bool,
) -> None:
    """Measure the checkpoints A and B on the same cases, side by side. Exit code 1 where B is worse than A.

    A SUITE is `own`, small programs with a bug each that come with deskagent; a file of fixes, one a line as JSON with
    `path`, `before` and `after` (and `failure`, `request` where they are known); or a file or folder of texts. Of fixes
    it is told how likely the right edit is, and where it stands among others that the repair would try; of texts how
    well they are predicted.
    """
    with engine("safetensors", "tokenizers"):
        from deskagent.repair.model.measure import suites
        from deskagent.repair.model.measure.regress import compare

        for folder in (first, second):
            agree(folder, accepted=accept_license)
        given = [suites.read(name, count) for name in wanted or (suites.OWN,)]
        rows = compare(_figures(first, given), _figures(second, given), tolerance)
    worse = any(row.worse for row in rows)
    left = {suite.name: suite.left for suite in given if suite.left}
    if as_json:
        found = {"a": str(first), "b": str(second), "tolerance": tolerance, "worse": worse, "left": left}
        click.echo(json.dumps(found | {"figures": [_plain(row) for row in rows]}, indent=2))
    else:
        for line in (*_table(rows), *_words(rows, left, tolerance)):
            click.echo(printable(line, newlines=False))
    if worse:
        sys.exit(1)


def _figures(folder: Path, given: Sequence[Suite]) -> list[Figure]:
    """Errors: UsageError where the checkpoint can't be asked, so that exit code 1 says one thing alone."""
    from deskagent.repair.model.engine import EngineJudge
    from deskagent.repair.model.judge import Gone
    from deskagent.repair.model.measure.regress import figures
    from deskagent.repair.model.weights import read

    reader, weights = EngineJudge(folder, "--idle", "60"), read(folder)
    found: list[Figure] = []
    for suite in given:
        whole = len(suite.choices) + len(suite.texts)
        label = printable(f"{folder.name}, {suite.name}", newlines=False)
        with click.progressbar(length=whole, label=label, file=sys.stderr) as bar:
            try:
                found += figures(suite, reader, weights, lambda: bar.update(1))
            except Gone as error:
                raise UsageError(f"{folder}: {error.message}") from error
    return found


def _table(rows: Sequence[Compared]) -> list[str]:
    wide = max(len(row.suite) for row in rows)
    names = max(len(row.figure) for row in rows)
    lines = [f"{'suite':{wide}}  {'figure':{names}}  cases       A       B    B − A  95 % of resamples"]
    for row in rows:
        lines.append(
            f"{row.suite:{wide}}  {row.figure:{names}}  {row.cases:5} {row.first:7.4f} {row.second:7.4f} "
            f"{row.second - row.first:+8.4f}  {row.low:+.4f} to {row.high:+.4f}{'  worse' if row.worse else ''}"
        )
    return lines


def _words(rows: Sequence[Compared], left: dict[str, int], tolerance: float) -> list[str]:
    words = [f"{name}: {count} cases left out, no edit can be made of them" for name, count in left.items()]
    worse = sum(row.worse for row in rows)
    told = f"{worse} of {len(rows)} figures are worse" if worse else "no figure is worse"
    return [*words, f"B against A: {told} by more than {tolerance:g}"]


def _plain(row: Compared) -> dict[str, object]:
    """With null for what is no number."""
    return {
        name: None if isinstance(value, float) and not math.isfinite(value) else value
        for name, value in asdict(row).items()
    }
