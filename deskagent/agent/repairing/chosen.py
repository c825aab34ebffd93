"""Which models a repair has: a checkpoint that ranks edits, and the person's models that work beside the search."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from deskagent.agent.converse import standing
from deskagent.agent.converse.rules import Rules
from deskagent.agent.converse.talk import Limits
from deskagent.agent.repairing.entrant import Entrant
from deskagent.agent.repairing.race import Race
from deskagent.agent.request import FixOptions
from deskagent.errors import UsageError
from deskagent.providers import catalog
from deskagent.providers.base import Provider
from deskagent.repair.model import find

MOST = 8
"""Models that work at once."""


def choose(
    options: FixOptions, opened: Callable[[str], tuple[Provider, bool]]
) -> tuple[Path | None, Race | None]:
    """What `--model` and `--race` name: the checkpoint's folder, the models. Errors: UsageError for a name that is
    none, and for models that can't be asked: a key that is missing, a file that is gone."""
    names = _names(options)
    if not names:
        return _folder(options.model), None
    racing = bool(options.race)
    entrants = []
    for number, name in enumerate(names):
        provider, moves = opened(name)
        plan = number if racing and len(names) > 1 else None
        entrants.append(Entrant(provider.name, plan, provider, moves))
    always = standing.read()
    race = Race(
        entrants,
        together=racing,
        limits=Limits(options.max_turns, options.max_usd),
        rules=Rules.parse(always["allow"], always["ask"], always["deny"]),
        effort=options.effort,
    )
    ranks = find.AUTO if is_listed(options.model) else options.model
    return find.choose(ranks).folder, race


def is_listed(name: str) -> bool:
    """Whether a name is one of the person's models'. Errors: UsageError."""
    return name in catalog.read().entries


def _names(options: FixOptions) -> list[str]:
    """The models that work, one for each plan."""
    race, model = options.race.strip(), options.model
    if not race:
        return [model] if model not in (find.AUTO, find.NONE) and is_listed(model) else []
    if not race.isdecimal():
        names = [name.strip() for name in race.split(",") if name.strip()]
    elif is_listed(model) or (model == find.AUTO and catalog.read().default):
        names = [model if model != find.AUTO else catalog.read().default] * int(race)
    else:
        raise UsageError(
            f"--race {race} needs a model of yours, and {model!r} is none.",
            hint="Name it: --model NAME --race 3, or several: --race NAME,NAME (`deskagent model list` has them).",
        )
    if not 1 <= len(names) <= MOST:
        raise UsageError(f"--race takes 1 to {MOST} models, not {len(names)}.")
    return names


def _folder(model: str) -> Path | None:
    try:
        return find.choose(model).folder
    except UsageError as error:
        if model in (find.AUTO, find.NONE) or Path(model).expanduser().is_dir():
            raise
        raise UsageError(
            f"{model!r} is neither one of your models nor a checkpoint's folder.",
            hint="`deskagent model list` has your models; `deskagent model add` adds one. "
            f"A folder has to be there: {error.message}",
        ) from None
