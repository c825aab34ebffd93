import asyncio

import pytest

from bus import Bus, Event


@pytest.fixture
def bus():
    return Bus()


def emit(bus, name, **data):
    return asyncio.run(bus.emit(Event(name, data)))


async def good(event):
    event.data.setdefault("seen", []).append(event.name)


async def broken(event):
    raise RuntimeError("no")


def test_patterns():
    assert Event("order.paid").matches("order.*")
    assert not Event("orders").matches("order.*")


def test_nobody_listens(bus):
    assert emit(bus, "x").summary() == "x: 0 delivered, 0 failed"


def test_only_matching(bus):
    bus.on("y", good)
    assert emit(bus, "x").good == []


def test_delivery(bus):
    bus.on("*", good)
    event = Event("x")
    asyncio.run(bus.emit(event))
    assert event.data["seen"] == ["x"]


def test_failure(bus):
    bus.on("x", broken)
    report = emit(bus, "x")
    assert not report.ok
    assert report.summary() == "x: 0 delivered, 1 failed"


def test_off(bus):
    bus.on("x", broken)
    bus.off(broken)
    assert emit(bus, "x").ok
