import pytest

from lines import Network


@pytest.fixture
def network():
    network = Network()
    network.connect("A", "B", 4)
    network.connect("B", "C", 3)
    network.connect("A", "C", 9)
    network.connect("X", "Y", 1)
    return network


def test_direct(network):
    assert network.minutes("A", "B") == 4


def test_detour_is_faster(network):
    assert network.minutes("A", "C") == 7


def test_no_way(network):
    assert network.minutes("A", "X") is None


def test_same_station(network):
    assert network.minutes("A", "A") == 0


def test_unknown_station(network):
    with pytest.raises(KeyError):
        network.minutes("A", "Z")


def test_within(network):
    assert network.within("B", 3) == ["B", "C"]
