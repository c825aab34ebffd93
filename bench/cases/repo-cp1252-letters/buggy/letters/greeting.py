# -*- coding: cp1252 -*-
"""Greetings of letters – with umlauts."""

CLOSING = "Mit freundlichen Grüßen"


def greeting(person):
    """The first line of a letter to a dict with kind, name and perhaps title."""
    title = person.get("title", "")
    name = f"{title} {person.get('name', '')}".strip()
    if person["kind"] == "company":
        return f"Sehr geehrte Damen und Herren {name},"
    if person["kind"] == "woman":
        return f"Sehr geehrte Frau {name},"
    if person["kind"] == "man":
        return f"Sehr geehrter Herr {name},"
    return f"Guten Tag {name},"


def price_line(euros):
    return f"Betrag: {euros:.2f} €".replace(".", ",")
