from invoice import Invoice, Line


def test_whole_prices():
    assert Line("pens", 3, 2).amount == 6


def test_cents():
    assert Line("tape", 3, 1.15).amount == 3.45


def test_cents_are_rounded():
    assert Line("string", 0.333, 1).amount == 0.33


def test_net_and_gross():
    invoice = Invoice().add("pens", 3, 2).add("desk", 1, 94)
    assert invoice.net == 100
    assert invoice.gross == 120


def test_discount():
    assert Invoice(discount=0.1).add("desk", 1, 50).net == 45


def test_total_has_cents():
    invoice = Invoice(tax=0.0).add("tape", 3, 1.15).add("glue", 1, 2.49)
    assert invoice.gross == 5.94


def test_render():
    text = Invoice(tax=0).add("pens", 3, 2).render()
    assert text.splitlines()[-1] == "total                     6.00"
