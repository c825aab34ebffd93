"""A small shop with its index."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from deskagent.repo.index import Index, open_index

CORE = """\
class Cart:
    def __init__(self):
        self.items = []

    def add_item(self, item):
        self.items.append(item)

    def total_price(self):
        return sum(price_of(item) for item in self.items)


def price_of(item):
    return item.price
"""


@pytest.fixture
def core() -> str:
    return CORE


SHOP = """\
from pkg.cart import Cart, price_of


def checkout(items):
    cart = Cart()
    for item in items:
        cart.add_item(item)
    return cart.total_price()


handler = price_of
"""


@pytest.fixture
def shop() -> str:
    return SHOP


@pytest.fixture
def root(tmp_path: Path, git: Callable[..., str]) -> Path:
    folder = tmp_path.resolve() / "shop"
    (folder / "pkg").mkdir(parents=True)
    (folder / "pkg" / "cart.py").write_text(CORE)
    (folder / "shop.py").write_text(SHOP)
    (folder / "notes.txt").write_text("The checkout needs a better total.\n")
    (folder / ".gitignore").write_text("ignored/\n")
    git(folder, "init", "-q")
    git(folder, "add", "-A")
    return folder


@pytest.fixture
def index(root: Path) -> Iterator[Index]:
    with open_index(root) as opened:
        opened.refresh()
        yield opened
