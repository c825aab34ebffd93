"""What an index answers."""

from __future__ import annotations

from deskagent.repo.index import Index


def test_definitions_by_name_and_by_dotted_name(index: Index) -> None:
    (found,) = index.find("total_price")
    assert (found.path, found.qualified, found.kind, found.line, found.end_line, found.language) == (
        *("pkg/cart.py", "Cart.total_price", "method"),
        *(8, 9, "python"),
    )
    assert index.find("Cart.total_price") == index.find("pkg.cart.Cart.total_price") == [found]
    assert index.find("Basket.total_price") == index.find("absent") == index.find("") == []


def test_references_say_where_they_are_and_what_they_lie_in(index: Index) -> None:
    found = [
        (r.path, r.line, r.call, r.inside.qualified if r.inside else None)
        for r in index.references("price_of")
    ]
    assert found == [
        ("pkg/cart.py", 9, True, "Cart.total_price"),
        ("shop.py", 1, False, None),
        ("shop.py", 11, False, None),
    ]


def test_callers_come_with_their_lines(index: Index) -> None:
    (caller,) = index.callers("Cart.add_item")
    assert (caller.definition.qualified, caller.lines) == ("checkout", (7,))
    assert [c.definition.qualified for c in index.callers("price_of")] == ["Cart.total_price"]


def test_text_search_finds_words_in_a_row_and_apart(index: Index) -> None:
    assert [(r.path, r.line) for r in index.search_text("checkout better total")] == [("notes.txt", 1)]
    (line,) = index.search_text('"better total"')
    assert (line.path, line.line, line.text) == ("notes.txt", 1, "The checkout needs a better total.")
    assert index.search_text("add_item")[0].text.strip() in (
        "cart.add_item(item)",
        "def add_item(self, item):",
    )
    for odd in ("", '"', "***", "(", 'a" OR b', "NEAR(", "\0", "\udc80"):
        assert isinstance(index.search_text(odd), list)


def test_names_by_part_and_by_likeness(index: Index) -> None:
    assert index.search_identifiers("ITEM") == ["item", "items", "add_item"]
    assert index.search_identifiers("_of") == ["price_of"]
    assert index.search_identifiers("it") == []
    assert index.similar_definitions("total_prices")[0].qualified == "Cart.total_price"
    for odd in ("", '"', "a\0bc", "\udc80\udc80\udc80"):
        assert index.search_identifiers(odd) == []
        assert index.similar_definitions(odd) == []
