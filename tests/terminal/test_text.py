from __future__ import annotations

import sys
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deskagent.terminal.text import printable

DANGEROUS = {"Cc", "Cf", "Cs", "Zl", "Zp"}


def test_no_control_format_or_surrogate_character_of_unicode_comes_through() -> None:
    through = [
        f"U+{code:04X}"
        for code in range(sys.maxunicode + 1)
        if unicodedata.category(chr(code)) in DANGEROUS
        and chr(code) not in "\t\n"
        and printable(chr(code)) == chr(code)
    ]
    assert through == []


@pytest.mark.parametrize(
    ("hostile", "shown"),
    [
        ("\x1b]52;c;aGk=\x07", "␛]52;c;aGk=␇"),
        ("\x9b31m", "\\x9b31m"),
        ("a\rb", "a␍b"),
        ("x\u202egnp.exe", "x\\u202egnp.exe"),
        ("pass\u200bword", "pass\\u200bword"),
        ("\udc80", "\\udc80"),
        ("\U000e0041", "\\U000e0041"),
        ("\x00\x7f", "␀␡"),
        ("a\tb\nc", "a\tb\nc"),
    ],
)
def test_what_is_shown(hostile: str, shown: str) -> None:
    assert printable(hostile) == shown


def test_newlines_can_be_shown_too() -> None:
    assert printable("a\nb", newlines=False) == "a␊b"


@given(st.text(st.characters(min_codepoint=0, max_codepoint=0x10FFFF)))
def test_the_result_can_be_encoded_and_is_stable(text: str) -> None:
    shown = printable(text)
    shown.encode("utf-8")
    assert printable(shown) == shown


@given(st.text(st.characters(categories=["L", "N", "P", "S", "Zs", "M"])))
def test_ordinary_text_is_unchanged(text: str) -> None:
    hidden = "\u034f\u115f\u1160\u17b4\u17b5\u180b\u180c\u180d\u180f\u2800\u3164\uffa0"
    ordinary = "".join(c for c in text if c not in hidden and not "\U000e0000" <= c <= "\U000e0fff")
    assert printable(ordinary) == ordinary
