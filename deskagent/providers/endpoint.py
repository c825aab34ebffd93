"""Where a model is served, what it can do, and whose thinking it takes back."""

from __future__ import annotations

import fnmatch
from collections.abc import Mapping
from dataclasses import dataclass, field

from deskagent.providers.base import Ask, Capabilities
from deskagent.providers.dialects import DIALECTS, Dialect


@dataclass(frozen=True, slots=True)
class Endpoint:
    """provider: the name that the person gave it. model: as the server names it. base: the URL, `…/v1` as a rule; ""
    is the dialect's own. dialect: a name in `DIALECTS`, or a Dialect. key: "" where none is needed. headers: added to
    every request. kin: patterns (as in fnmatch) of other `provider/model` names that are the same model served
    elsewhere: their thinking is given back too."""

    provider: str
    model: str
    capabilities: Capabilities
    dialect: Dialect
    base: str = ""
    key: str = field(default="", repr=False)
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    kin: tuple[str, ...] = ()

    @classmethod
    def of(cls, provider: str, model: str, capabilities: Capabilities, dialect: str, **more) -> Endpoint:
        """With the dialect of that name. Errors: KeyError."""
        return cls(provider, model, capabilities, DIALECTS[dialect], **more)

    @property
    def name(self) -> str:
        return f"{self.provider}/{self.model}"

    def wrote(self, author: str) -> bool:
        """Whether an answer by `author` is this model's own."""
        return author == self.name or any(fnmatch.fnmatchcase(author, pattern) for pattern in self.kin)

    def effort(self, ask: Ask) -> str | int | None:
        """What the ask's tier is called here: the highest of the model's that isn't above it, else its lowest."""
        tiers = [tier for tier in self.capabilities.tiers if tier in self.dialect.tiers]
        if not tiers or not self.dialect.effort:
            return None
        order = list(self.dialect.tiers)
        wanted = order.index(ask.tier) if ask.tier in order else len(order)
        fitting = [tier for tier in tiers if order.index(tier) <= wanted]
        return self.dialect.tiers[max(fitting, key=order.index) if fitting else min(tiers, key=order.index)]
