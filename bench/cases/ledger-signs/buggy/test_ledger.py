import pytest

from ledger import Ledger


def test_empty():
    assert Ledger(5).balance == 5


def test_credit():
    ledger = Ledger()
    ledger.post("pay", credit=10)
    assert ledger.balance == 10


def test_debit():
    ledger = Ledger(100)
    ledger.post("rent", debit=60)
    assert ledger.balance == 40


def test_mixed():
    ledger = Ledger(10)
    ledger.post("pay", credit=5)
    ledger.post("food", debit=3)
    assert ledger.balances() == [15, 12]


def test_neither():
    with pytest.raises(ValueError):
        Ledger().post("nothing")


def test_both():
    with pytest.raises(ValueError):
        Ledger().post("odd", 1, 1)


def test_statement_of_nothing():
    assert Ledger().statement() == []
