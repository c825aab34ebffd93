from money import amounts, mask, totals


def test_with_cents():
    assert amounts("tea is $2.50 here") == [("USD", 250)]


def test_without_cents():
    assert amounts("lunch for $5") == [("USD", 500)]


def test_mixed():
    assert amounts("€10 or £8.99") == [("EUR", 1000), ("GBP", 899)]


def test_no_price():
    assert amounts("50 people, 2.50 each") == []


def test_totals():
    assert totals("$1.00 and $2.25 and €3.10") == {"USD": 325, "EUR": 310}


def test_mask():
    assert mask("was $9.99!") == "was $***!"
