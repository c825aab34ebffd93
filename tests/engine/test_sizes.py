from __future__ import annotations

import pytest

from engine.sizes import human


@pytest.mark.parametrize(
    ("size", "text"),
    [(0, "0 B"), (982, "982 B"), (17_550_000, "17.6 MB"), (25.8e9, "25.8 GB"), (3e15, "3000.0 TB")],
)
def test_a_size_is_told_in_decimal_units(size, text):
    assert human(size) == text
