import pytest

from account import Account, InsufficientFunds


def test_deposit():
    account = Account("ann")
    account.deposit(150)
    assert account.balance == 150


def test_withdraw():
    account = Account("ann", 100)
    account.withdraw(100)
    assert account.balance == 0


def test_overdraft():
    account = Account("ann", 100)
    with pytest.raises(InsufficientFunds, match="ann has 100, needs 101"):
        account.withdraw(101)
    assert account.log == []


def test_negative_deposit():
    with pytest.raises(ValueError, match="amount must be positive"):
        Account("ann").deposit(-1)


@pytest.mark.parametrize("amount", [0, -50])
def test_negative_withdrawal(amount):
    account = Account("ann", 100)
    with pytest.raises(ValueError, match="amount must be positive"):
        account.withdraw(amount)
    assert account.balance == 100


def test_transfer():
    ann, bob = Account("ann", 100), Account("bob")
    ann.transfer(bob, 30)
    assert (ann.balance, bob.balance) == (70, 30)


def test_statement():
    account = Account("ann")
    account.deposit(1234)
    assert account.statement() == ["deposit        12.34"]
