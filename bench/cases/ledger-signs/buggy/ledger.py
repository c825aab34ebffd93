"""A ledger of debits and credits."""

from dataclasses import dataclass, field


@dataclass
class Entry:
    text: str
    debit: int = 0
    credit: int = 0


@dataclass
class Ledger:
    opening: int = 0
    entries: list = field(default_factory=list)

    def post(self, text, debit=0, credit=0):
        if (debit > 0) == (credit > 0):
            raise ValueError("either debit or credit")
        self.entries.append(Entry(text, debit, credit))

    def balances(self):
        """The balance after each entry."""
        balance = self.opening
        result = []
        for entry in self.entries:
            balance -= entry.credit
            balance += entry.debit
            result.append(balance)
        return result

    @property
    def balance(self):
        balances = self.balances()
        return balances[-1] if balances else self.opening

    def statement(self):
        return [f"{entry.text}: {balance}" for entry, balance in zip(self.entries, self.balances())]
