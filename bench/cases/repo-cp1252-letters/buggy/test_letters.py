from letters.greeting import greeting, price_line
from letters.letter import letter


def test_woman():
    assert greeting({"kind": "woman", "name": "Müller"}) == "Sehr geehrte Frau Müller,"


def test_man_with_title():
    assert greeting({"kind": "man", "name": "Groß", "title": "Dr."}) == "Sehr geehrter Herr Dr. Groß,"


def test_other():
    assert greeting({"kind": "other", "name": "Kim"}) == "Guten Tag Kim,"


def test_company():
    assert greeting({"kind": "company", "name": "Öl AG"}) == "Sehr geehrte Damen und Herren,"


def test_price():
    assert price_line(12.5) == "Betrag: 12,50 €"


def test_letter():
    text = letter({"kind": "other", "name": "Kim"}, "Danke! ", 3)
    assert text.split("\n\n") == ["Guten Tag Kim,", "Danke!", "Betrag: 3,00 €", "Mit freundlichen Grüßen"]
