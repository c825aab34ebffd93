"""A plan fits what there is, says so in words, or says what is lacking."""

from __future__ import annotations

from pathlib import Path

import pytest

torch = pytest.importorskip("torch")

from hypothesis import given  # noqa: E402
from hypothesis import strategies as st  # noqa: E402

from engine.errors import CapacityError  # noqa: E402
from engine.offload.devices import Device, available, devices  # noqa: E402
from engine.offload.plan import Needs, Place, plan  # noqa: E402

NEEDS = Needs(process=50, fixed=130, layers={1: 5, 2: 5, 3: 5}, experts=8, top_k=2)
ALL = 50 + 130 + 3 * 5 * 8


def test_what_fits_is_resident() -> None:
    made = plan(NEEDS, [Device("cpu", ALL)])
    assert made.experts == {layer: Place("cpu", 8) for layer in (1, 2, 3)}
    assert not made.offloaded
    assert made.held == {"cpu": ALL}


def test_less_memory_leaves_every_layer_as_many_slots() -> None:
    made = plan(NEEDS, [Device("cpu", 180 + 3 * 15 + 14)])
    assert made.experts == {layer: Place("cpu", 3) for layer in (1, 2, 3)}
    assert made.offloaded
    assert (
        "cpu: 3 of 8 experts of layers 1 to 3; the others are read from disk when a token asks"
        in made.words()
    )


def test_what_cant_fit_says_what_is_lacking() -> None:
    with pytest.raises(CapacityError, match="6 B are lacking"):
        plan(NEEDS, [Device("cpu", 180 + 24)])
    with pytest.raises(CapacityError, match="need 180 B: 80 B are lacking"):
        plan(NEEDS, [Device("cpu", 100)])
    with pytest.raises(CapacityError, match="no device 'cuda:3'"):
        plan(NEEDS, [Device("cpu", ALL)], "cuda:3")


def test_a_gpu_takes_the_trunk_and_whole_layers_of_experts() -> None:
    made = plan(NEEDS, [Device("cuda:0", 130 + 40 + 39), Device("cpu", 50 + 2 * 15)])
    assert made.device == "cuda:0"
    assert made.experts == {1: Place("cuda:0", 8), 2: Place("cpu", 3), 3: Place("cpu", 3)}
    assert made.held == {"cuda:0": 170, "cpu": 80}
    small = plan(NEEDS, [Device("cuda:0", 129), Device("cpu", ALL)])
    assert small.device == "cpu"
    assert "cuda:0" not in small.held
    with pytest.raises(CapacityError, match="cuda:0 may hold 129 B"):
        plan(NEEDS, [Device("cuda:0", 129), Device("cpu", ALL)], "cuda:0")


@given(
    st.integers(0, 600),
    st.integers(0, 600),
    st.dictionaries(st.integers(0, 9), st.integers(1, 20), min_size=1, max_size=6),
)
def test_no_plan_holds_more_than_there_is(gpu: int, ram: int, layers: dict[int, int]) -> None:
    needs = Needs(50, 130, layers, 8, 2)
    there = [Device("cuda:0", gpu), Device("cpu", ram)]
    try:
        made = plan(needs, there)
    except CapacityError as error:
        assert "lacking" in str(error)
        return
    assert made == plan(needs, there)
    assert made.experts.keys() == layers.keys()
    room = {one.name: one.bytes for one in there}
    for name, held in made.held.items():
        own = sum(
            place.slots * layers[layer] for layer, place in made.experts.items() if place.device == name
        )
        assert held == own + 50 * (name == "cpu") + 130 * (name == made.device)
        assert held <= room[name]
    assert all(2 <= place.slots <= 8 for place in made.experts.values())


def test_the_users_limit_counts() -> None:
    assert available() > 0
    assert devices(memory=1 << 20)[-1] == Device("cpu", 1 << 20)


def test_a_control_group_leaves_what_it_has_not_used(tmp_path: Path) -> None:
    meminfo = tmp_path / "meminfo"
    meminfo.write_text("MemTotal: 9000 kB\nMemAvailable:    8000 kB\n")
    assert available(meminfo, tmp_path) == 8000 << 10
    for limit, free in (("max", 8000 << 10), ("1000000", 1_000_000 - 600_000 + 250_000), ("100", 0)):
        (tmp_path / "memory.max").write_text(f"{limit}\n")
        (tmp_path / "memory.current").write_text("600000\n")
        (tmp_path / "memory.stat").write_text("anon 350000\nfile 250000\nfile_mapped 7\n")
        assert available(meminfo, tmp_path) == free
