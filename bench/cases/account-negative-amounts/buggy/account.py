"""Accounts in whole cents."""


class InsufficientFunds(Exception):
    pass


class Account:
    def __init__(self, owner, balance=0):
        self.owner = owner
        self.balance = balance
        self.log = []

    def deposit(self, amount):
        if amount <= 0:
            raise ValueError("amount must be positive")
        self.balance += amount
        self.log.append(("deposit", amount))

    def withdraw(self, amount):
        if amount > self.balance:
            raise InsufficientFunds(f"{self.owner} has {self.balance}, needs {amount}")
        self.balance -= amount
        self.log.append(("withdraw", amount))

    def transfer(self, other, amount):
        """Moves money; nothing happens if the first step fails."""
        self.withdraw(amount)
        other.deposit(amount)

    def statement(self):
        return [f"{what:<10}{amount / 100:>10.2f}" for what, amount in self.log]
