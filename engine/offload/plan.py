"""Where a model lives: which device computes its layers, and how many of each layer's experts stay in memory.

Decided from sizes alone, before anything is allocated. The checkpoint on disk always holds everything; the plan says
what is copied upwards from there. Trunk, caches and states go to the computing device together. Routed experts come
last: whole layers onto a GPU while they fit, from the first on; the others are computed on the CPU, all of them
resident where main memory has room, else each layer with the same number of slots, filled from disk as tokens ask.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from engine.errors import CapacityError
from engine.offload.devices import RAM, Device
from engine.sizes import human

_PROCESS, _TRUNK = "the process with its prefix cache", "trunk, caches and a step"
_WHAT = {(True, True): (_PROCESS, _TRUNK), (True, False): (_PROCESS,), (False, True): (_TRUNK,)}
"""What a device holds beside experts, by whether it is main memory and whether it computes."""


@dataclass(frozen=True, slots=True)
class Needs:
    """Bytes. process: held in main memory whatever is computed where: Python, torch, the prefix cache. fixed: held
    where the trunk is: its weights, pages, states, a step's activations. layers: number of a layer with routed experts
    → bytes of one expert. experts: of each such layer. top_k: of them for a token."""

    process: int
    fixed: int
    layers: dict[int, int]
    experts: int
    top_k: int


@dataclass(frozen=True, slots=True)
class Place:
    """Of one layer's routed experts: the device that computes them, and how many it holds at once; the others stay on
    disk."""

    device: str
    slots: int


@dataclass(frozen=True, slots=True)
class Plan:
    """device: of trunk, caches and states. experts: layer → place. held: bytes planned on each device. of: experts a
    layer."""

    device: str
    experts: dict[int, Place]
    held: dict[str, int]
    of: int

    @property
    def offloaded(self) -> bool:
        """Whether any expert is computed elsewhere than the trunk, or is not resident."""
        return any(place.device != self.device or place.slots < self.of for place in self.experts.values())

    def words(self) -> list[str]:
        """The plan, a line a fact."""
        lines = [f"{self.device}: trunk, caches and states of all layers"]
        for first, last, place in _runs(self.experts):
            layers = f"layer {first}" if first == last else f"layers {first} to {last}"
            kept = "all" if place.slots == self.of else f"{place.slots} of"
            rest = "" if place.slots == self.of else "; the others are read from disk when a token asks"
            lines.append(f"{place.device}: {kept} {self.of} experts of {layers}{rest}")
        return [*lines, *(f"{name}: {human(held)} in all" for name, held in self.held.items())]


def plan(needs: Needs, devices: Sequence[Device], device: str | None = None) -> Plan:
    """devices: what there is, main memory (`cpu`) among them. device: which one computes; None: the first GPU that
    trunk, caches and a step fit on, else the CPU. Errors: CapacityError, which says what is lacking."""
    known = {one.name: one for one in devices}
    if device is not None and device not in known:
        raise CapacityError(f"no device {device!r} here; there are {', '.join(known)}")
    home = known[device] if device is not None else _first(needs, devices)
    free = {one.name: one.bytes for one in devices}
    free[RAM] -= needs.process
    free[home.name] -= needs.fixed
    for name in (home.name, RAM):
        if free[name] < 0:
            what = " and ".join(_WHAT[name == RAM, name == home.name])
            raise CapacityError(
                f"{name} may hold {human(known[name].bytes)}, {what} need {human(known[name].bytes - free[name])}:"
                f" {human(-free[name])} are lacking. Give it more memory, or the caches fewer tokens"
            )
    places: dict[int, Place] = {}
    if home.name != RAM:
        for layer, expert in needs.layers.items():
            if free[home.name] < expert * needs.experts:
                break
            free[home.name] -= expert * needs.experts
            places[layer] = Place(home.name, needs.experts)
    rest = {layer: expert for layer, expert in needs.layers.items() if layer not in places}
    if rest:
        row = sum(rest.values())
        slots = min(needs.experts, free[RAM] // row)
        if slots < needs.top_k:
            lacking = needs.top_k * row - free[RAM]
            raise CapacityError(
                f"{RAM} may hold {human(known[RAM].bytes)}; a token's {needs.top_k} experts in each of {len(rest)}"
                f" layers need {human(needs.top_k * row)} beside what else lies there: {human(lacking)} are"
                " lacking. Give it more memory, or the caches fewer tokens"
            )
        free[RAM] -= slots * row
        places |= {layer: Place(RAM, slots) for layer in rest}
    held = {one.name: one.bytes - free[one.name] for one in devices if one.name in (home.name, RAM)}
    return Plan(home.name, places, held, needs.experts)


def _first(needs: Needs, devices: Sequence[Device]) -> Device:
    gpus = [one for one in devices if one.name != RAM and one.bytes >= needs.fixed]
    return gpus[0] if gpus else next(one for one in devices if one.name == RAM)


def _runs(places: dict[int, Place]) -> list[tuple[int, int, Place]]:
    """Neighbouring layers of one place together."""
    runs: list[tuple[int, int, Place]] = []
    for layer, place in sorted(places.items()):
        if runs and runs[-1][2] == place and runs[-1][1] == layer - 1:
            runs[-1] = runs[-1][0], layer, place
        else:
            runs.append((layer, layer, place))
    return runs
