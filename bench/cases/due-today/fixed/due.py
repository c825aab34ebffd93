"""Due dates of invoices."""

from dataclasses import dataclass
from datetime import date, timedelta


@dataclass(frozen=True)
class Invoice:
    number: int
    sent: date
    days: int = 30
    paid: bool = False

    @property
    def due(self):
        """The last day to pay; at weekends the Monday after."""
        day = self.sent + timedelta(days=self.days)
        while day.weekday() >= 5:
            day += timedelta(days=1)
        return day

    def overdue(self, today):
        """Whether it should have been paid before `today`."""
        return not self.paid and today > self.due


def reminders(invoices, today):
    """(number, days late) of everything overdue, the latest first."""
    late = [(invoice.number, (today - invoice.due).days) for invoice in invoices if invoice.overdue(today)]
    return sorted(late, key=lambda pair: -pair[1])
