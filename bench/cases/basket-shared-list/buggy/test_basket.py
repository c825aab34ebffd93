import pytest

from basket import Basket

PRICES = {"apple": 3, "pear": 4}


@pytest.fixture
def basket():
    basket = Basket(PRICES)
    basket.add("pear")
    basket.add("apple", 2)
    return basket


def test_items(basket):
    assert basket.items() == ["pear", "apple", "apple"]


def test_total(basket):
    assert basket.total() == 10


def test_remove(basket):
    basket.remove("apple")
    assert basket.items() == ["pear", "apple"]


def test_unknown(basket):
    with pytest.raises(KeyError):
        basket.add("plum")


def test_items_is_a_copy(basket):
    basket.items().clear()
    assert basket.total() == 10


def test_sorting_the_answer_keeps_the_order(basket):
    basket.items().sort()
    assert basket.items()[0] == "pear"


def test_receipt(basket):
    assert basket.receipt() == ["2 x apple: 6", "1 x pear: 4"]
