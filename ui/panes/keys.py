"""Keys as the bytes that a program at a terminal gets for them."""

from __future__ import annotations

from textual.events import Key

GIVE_BACK = "ctrl+right_square_bracket"
"""Ends the person's turn: the one key that the program never gets."""

_CURSOR = {"up": "A", "down": "B", "right": "C", "left": "D", "home": "H", "end": "F"}
_TILDE = {
    "insert": 2, "delete": 3, "pageup": 5, "pagedown": 6, "f5": 15, "f6": 17, "f7": 18, "f8": 19, "f9": 20,
    "f10": 21, "f11": 23, "f12": 24,
}  # fmt: skip
_F = {"f1": "P", "f2": "Q", "f3": "R", "f4": "S"}
_PLAIN = {"enter": b"\r", "tab": b"\t", "shift+tab": b"\x1b[Z", "escape": b"\x1b", "backspace": b"\x7f"}
_CONTROL = {
    "ctrl+at": 0,
    "ctrl+space": 0,
    "ctrl+backslash": 28,
    "ctrl+circumflex_accent": 30,
    "ctrl+underscore": 31,
}
_MODIFIERS = {"shift": 1, "alt": 2, "ctrl": 4}


def typed(event: Key, *, cursor_keys: bool = False) -> bytes:
    """What is typed by a key, as xterm does it; b"" for one that types nothing. cursor_keys: the program has the
    cursor keys in application mode."""
    if event.key in _PLAIN:
        return _PLAIN[event.key]
    if event.key in _CONTROL:
        return bytes([_CONTROL[event.key]])
    *held, key = event.key.split("+")
    modifiers = sum(_MODIFIERS.get(name, 0) for name in held)
    if key in _CURSOR or key in _F:
        letter = _CURSOR.get(key) or _F[key]
        if modifiers:
            return f"\x1b[1;{modifiers + 1}{letter}".encode()
        return f"\x1b{'O' if cursor_keys or key in _F else '['}{letter}".encode()
    if key in _TILDE:
        return f"\x1b[{_TILDE[key]}{f';{modifiers + 1}' if modifiers else ''}~".encode()
    if "ctrl" in held and len(key) == 1 and key.isalpha():
        data = bytes([ord(key.lower()) & 0x1F])
    elif event.character and event.character.isprintable():
        data = event.character.encode("utf-8", "replace")
    else:
        data = _PLAIN.get(key, b"")
    return b"\x1b" + data if data and "alt" in held else data
