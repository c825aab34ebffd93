from datetime import date

from due import Invoice, reminders

SENT = date(2024, 3, 1)


def test_due():
    assert Invoice(1, SENT, days=10).due == date(2024, 3, 11)


def test_weekend():
    assert Invoice(1, SENT, days=1).due == date(2024, 3, 4)


def test_overdue():
    assert Invoice(1, SENT, days=10).overdue(date(2024, 3, 12))


def test_on_the_day():
    assert not Invoice(1, SENT, days=10).overdue(date(2024, 3, 11))


def test_early():
    assert not Invoice(1, SENT).overdue(SENT)


def test_paid():
    assert not Invoice(1, SENT, days=1, paid=True).overdue(date(2025, 1, 1))


def test_reminders():
    invoices = [Invoice(1, SENT, 10), Invoice(2, SENT, 3), Invoice(3, SENT, 90)]
    assert reminders(invoices, date(2024, 3, 13)) == [(2, 9), (1, 2)]
