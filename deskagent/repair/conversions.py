"""What would turn the values that came into those that were expected, or do away with an error: conversions, methods.

A conversion is written `int` for `int(x)` and `.strip()` for `x.strip()`; a `-` before it means that the call which is
there already is one too many.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

from deskagent.repair.examples import Examples

# conversion → what it does, how much it says when it fits
VALUES: Mapping[str, tuple[Callable[[Any], object], float]] = {
    ".strip()": (lambda v: v.strip(), 1.0),
    ".rstrip()": (lambda v: v.rstrip(), 0.8),
    ".lstrip()": (lambda v: v.lstrip(), 0.8),
    '.rstrip("\\n")': (lambda v: v.rstrip("\n"), 0.7),
    ".lower()": (lambda v: v.lower(), 1.0),
    ".casefold()": (lambda v: v.casefold(), 0.4),
    ".upper()": (lambda v: v.upper(), 1.0),
    ".title()": (lambda v: v.title(), 0.8),
    ".capitalize()": (lambda v: v.capitalize(), 0.8),
    ".swapcase()": (lambda v: v.swapcase(), 0.5),
    ".split()": (lambda v: v.split(), 0.8),
    '.split(",")': (lambda v: v.split(","), 0.8),
    ".splitlines()": (lambda v: v.splitlines(), 0.8),
    ".decode()": (lambda v: v.decode(), 1.0),
    ".encode()": (lambda v: v.encode(), 1.0),
    ".hex()": (lambda v: v.hex(), 0.5),
    "sorted": (lambda v: sorted(v) if isinstance(v, list) else None, 1.0),
    "reversed": (lambda v: v[::-1], 0.8),
    "[::-1]": (lambda v: v[::-1], 0.8),
    "set": (lambda v: set(v) if not isinstance(v, str) else None, 0.8),
    "frozenset": (lambda v: frozenset(v) if not isinstance(v, str) else None, 0.4),
    "list": (lambda v: list(v) if not isinstance(v, str) else None, 1.0),
    "tuple": (lambda v: tuple(v) if not isinstance(v, str) else None, 1.0),
    "dict": (lambda v: dict(v), 1.0),
    "list(dict.fromkeys())": (lambda v: list(dict.fromkeys(v)) if isinstance(v, list) else None, 1.0),
    "sorted(set())": (lambda v: sorted(set(v)) if isinstance(v, list) else None, 0.9),
    "str": (str, 1.0),
    "repr": (repr, 0.6),
    "int": (int, 1.0),
    "float": (float, 0.9),
    "bool": (bool, 0.9),
    "len": (len, 0.9),
    "sum": (sum, 0.7),
    "abs": (abs, 1.0),
    "round": (round, 1.0),
    "round(2)": (lambda v: round(v, 2), 1.0),
    "round(1)": (lambda v: round(v, 1), 0.8),
    "max": (lambda v: max(v) if isinstance(v, (list, tuple)) else None, 0.3),
    "min": (lambda v: min(v) if isinstance(v, (list, tuple)) else None, 0.3),
    "join": (lambda v: "".join(v) if isinstance(v, (list, tuple)) else None, 0.7),
}
# what an error says → conversions that do away with it
ERRORS: tuple[tuple[str, Mapping[str, float]], ...] = (
    (r"can't concat str to bytes|bytes-like object is required, not 'str'|must be (?:bytes|a bytes-like)"
     r"|cannot use a bytes pattern on a string|Strings must be encoded|encoding before hashing",
     {".encode()": 1.0, "str": 0.0, "-.decode()": 0.6, "bytes": 0.3}),
    (r"can't concat bytes to str|concatenate str \(not \"bytes\"\)|must be str, not bytes|expected str instance, bytes"
     r"|cannot use a string pattern on a bytes|argument must be str, not bytes|type bytes is not JSON",
     {".decode()": 1.0, "-.encode()": 0.8, "str": 0.2}),
    (r"concatenate str \(not \"(?:int|float|bool|NoneType|list|tuple|dict|\w+)\"\)|must be str, not (?:int|float)"
     r"|expected str instance, \w+ found|expected string or bytes-like|not (?:int|float)\b.*\bstr",
     {"str": 1.0, "-int": 0.3, "-float": 0.2}),
    (r"unsupported operand type\(s\) for [^:]+: '(?:int|float)' and 'str'"
     r"|unsupported operand type\(s\) for [^:]+: 'str' and '(?:int|float|str)'"
     r"|not supported between instances of '(?:str' and '(?:int|float)|(?:int|float)' and 'str)'"
     r"|'str' object cannot be interpreted as an integer|indices must be integers|non-int of type 'str'"
     r"|Unknown format code '\w' for object of type 'str'|a number is required|must be real number, not str",
     {"int": 1.0, "float": 0.7, "str": 0.3, "-str": 0.4, "len": 0.2}),
    (r"'float' object cannot be interpreted as an integer|slice indices must be integers|non-int of type 'float'",
     {"int": 1.0, "round": 0.4}),
    (r"unhashable type: '(?:list|bytearray)'", {"tuple": 1.0, "str": 0.3, "frozenset": 0.2}),
    (r"unhashable type: 'set'", {"frozenset": 1.0, "tuple": 0.3}),
    (r"unhashable type: 'dict'", {"tuple": 0.4, "frozenset": 0.2, "str": 0.2}),
    (r"'(?:generator|map|filter|zip|range_iterator|dict_\w+|reversed|enumerate|set|list_\w+)' object is not"
     r" (?:subscriptable|reversible)|object of type '(?:generator|map|filter|zip|reversed)' has no len"
     r"|has no attribute '(?:sort|append|index|copy)'|changed size during iteration|object is not an iterator",
     {"list": 1.0, "sorted": 0.5, "tuple": 0.4, "iter": 0.3, ".copy()": 0.3}),
    (r"(?:can only concatenate|unsupported operand type\(s\) for .*:).*'?list'?",
     {"list": 1.0, "tuple": 0.3, "str": 0.2}),
    (r"(?:can only concatenate|unsupported operand type\(s\) for .*:).*'?tuple'?", {"tuple": 1.0, "list": 0.4}),
    (r"unsupported operand type\(s\) for .*'(?:set|dict_\w+)'|'list' and 'set'|'set' and 'list'", {"set": 1.0}),
    (r"Object of type (?:set|frozenset|dict_\w+|generator|map) is not JSON serializable", {"list": 1.0, "sorted": 0.9}),
    (r"Object of type \w+ is not JSON serializable", {"str": 1.0, ".isoformat()": 0.4}),
    (r"invalid literal for int\(\) with base 10: '\s|could not convert string to float: '\s", {".strip()": 1.0}),
    (r"invalid literal for int\(\) with base 10: '-?\d+\.\d+'", {"float": 1.0, "-int": 0.4}),
    (r"coroutine|was never awaited|object \w+ can't be used in 'await'|async_generator", {"await": 1.0, "-await": 0.4}),
    (r"too many values to unpack", {".items()": 1.0, "enumerate": 0.4, "zip": 0.1}),
    (r"'(?:Pos\w+|Windows)Path'.*'str'|expected str, bytes or os.PathLike|'str' object has no attribute '(?:exists"
     r"|read_\w+|is_file|parent|name|stem|suffix|write_\w+|open|mkdir|glob)'"
     r"|unsupported operand type\(s\) for /: 'str' and 'str'",
     {"Path": 1.0, "str": 0.5}),
    (r"'(?:\w*Path|int|float|NoneType|bytes)' object has no attribute"
     r" '(?:split|strip|lower|upper|startswith|endswith|replace|encode)'",
     {"str": 1.0, ".decode()": 0.5}),
    (r"type 'complex'|math domain error", {"abs": 1.0}),
    (r"Decimal.*float|float.*Decimal", {"Decimal": 1.0, "float": 0.5, "str": 0.4}),
)  # fmt: skip
# (what came, what was expected) → conversions that the kinds alone speak for
KINDS: Mapping[tuple[type, type], Mapping[str, float]] = {
    (bytes, str): {".decode()": 1.0, "str": 0.1},
    (str, bytes): {".encode()": 1.0},
    (str, int): {"int": 0.8, "len": 0.4},
    (str, float): {"float": 0.8},
    (int, str): {"str": 0.8},
    (float, int): {"int": 0.8, "round": 0.8},
    (float, float): {"round(2)": 0.3, "abs": 0.1},
    (int, int): {"abs": 0.1},
    (list, tuple): {"tuple": 1.0},
    (tuple, list): {"list": 1.0},
    (set, list): {"sorted": 1.0, "list": 0.6},
    (list, set): {"set": 1.0},
    (list, dict): {"dict": 0.6},
    (list, str): {"join": 0.8},
    (list, int): {"len": 0.8, "sum": 0.6},
    (int, bool): {"bool": 1.0},
    (list, bool): {"bool": 1.0, "any": 0.3, "all": 0.3},
    (str, bool): {"bool": 1.0},
    (str, list): {".split()": 0.6, "list": 0.2},
    (dict, list): {"list": 0.6, "sorted": 0.4},
}


def told(examples: Examples) -> dict[str, float]:
    """Conversion → how strongly the examples speak for it, in (0, 1]."""
    found: dict[str, float] = {}

    def say(conversions: Mapping[str, float]) -> None:
        for name, strength in conversions.items():
            if strength > found.get(name, 0.0):
                found[name] = strength

    for expected, actual in examples.pairs:
        say(KINDS.get((type(actual), type(expected)), {}))
        for name, (_, strength) in VALUES.items():
            if _turns(name, actual, expected):
                say({name: strength})
            if name != "str" and _turns(name, expected, actual):
                say({f"-{name}": strength})
    for error in examples.errors:
        for pattern, conversions in ERRORS:
            if re.search(pattern, error):
                say(conversions)
    return found


def _turns(name: str, value: object, wanted: object) -> bool:
    try:
        found = VALUES[name][0](value)
        return type(found) is type(wanted) and found == wanted
    except (TypeError, ValueError, AttributeError, OverflowError, LookupError):
        return False
