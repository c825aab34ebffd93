"""Foreign text made inert: what a terminal would obey, or an eye would miss, is shown instead of sent."""

from __future__ import annotations

import re

# All of the categories Cc, Cf, Cs, Zl and Zp (a test checks it against unicodedata) but tab and newline;
# and letters that draw nothing (Hangul fillers, Khmer inherent vowels, the grapheme joiner, Mongolian and
# supplementary variation selectors, the Braille blank): text hidden in them would be approved unseen.
_ACTIVE = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u00ad\u034f\u0600-\u0605\u061c\u06dd\u070f\u0890\u0891\u08e2\u115f\u1160"
    "\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u2028-\u202e\u2060-\u206f\u2800\u3164\ud800-\udfff\ufeff\uffa0"
    "\ufff0-\ufffb\U000110bd\U000110cd\U00013430-\U0001345f\U0001bca0-\U0001bca3\U0001d173-\U0001d17a"
    "\U000e0000-\U000e0fff]"
)


def printable(text: str, *, newlines: bool = True) -> str:
    """`text` with every control, bidirectional and invisible character made visible; the rest as it is.

    C0 controls become their pictures (ESC → ␛, CR → ␍), the others escapes (`\\x9b`, `\\u202e`,
    `\\U000e0041`), lone surrogates included, so that the result can always be encoded. Tabs are kept, and
    newlines too unless `newlines` is False, when each becomes ␊.
    """
    shown = _ACTIVE.sub(_visible, text)
    return shown if newlines else shown.replace("\n", "␊")


def _visible(match: re.Match[str]) -> str:
    code = ord(match[0])
    if code < 0x20:
        return chr(0x2400 + code)
    if code == 0x7F:
        return "␡"
    if code < 0x100:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"
