"""Whether a package may be learnt from: what its metadata say of its licence."""

from __future__ import annotations

import re
from importlib.metadata import Distribution

PERMISSIVE = frozenset({
    "0BSD", "APACHE-2.0", "BSD", "BSD-2-CLAUSE", "BSD-3-CLAUSE", "CC0-1.0", "HPND", "ISC", "MIT", "MIT-0", "MIT-CMU",
    "PSF-2.0", "PYTHON-2.0", "PYTHON-2.0.1", "UNLICENSE", "ZLIB",
})  # fmt: skip
"""SPDX names, in capitals."""
_SAID = {
    "apache license 2.0": "Apache-2.0", "apache license, version 2.0": "Apache-2.0",
    "apache software license": "Apache-2.0", "apache 2.0": "Apache-2.0", "apache-2": "Apache-2.0",
    "apache license version 2.0": "Apache-2.0", "apache 2.0 license": "Apache-2.0", "apache": "Apache-2.0",
    "bsd license": "BSD", "modified bsd license": "BSD-3-Clause", "bsd 3-clause": "BSD-3-Clause",
    "bsd-3": "BSD-3-Clause", "3-clause bsd": "BSD-3-Clause", "new bsd": "BSD-3-Clause",
    "3-clause bsd license": "BSD-3-Clause", "bsd 3-clause license": "BSD-3-Clause", "mit license": "MIT",
    "mit-license": "MIT", "the mit license": "MIT", "the mit license (mit)": "MIT", "expat license": "MIT",
    "expat": "MIT", "isc license (iscl)": "ISC", "isc license": "ISC",
    "python software foundation license": "PSF-2.0", "psf": "PSF-2.0", "the unlicense (unlicense)": "Unlicense",
    "zlib/libpng license": "Zlib", "psfl": "PSF-2.0",
    "historical permission notice and disclaimer (hpnd)": "HPND",
}  # fmt: skip
_CLASSIFIER = "License :: OSI Approved :: "
_WORDS = re.compile(r"\(|\)|[^\s()]+")


def licence_of(found: Distribution) -> str | None:
    """The SPDX expression of a permissive licence; None where there is another, or none is said."""
    about = found.metadata
    for expression in about.get_all("License-Expression") or []:
        return expression if permissive(expression) else None
    # classifiers are a closed list and say more surely than the free text beside them
    classified = [
        line.removeprefix(_CLASSIFIER)
        for line in about.get_all("Classifier") or []
        if line.startswith("License ::")
    ]
    said = classified or [line.strip() for line in about.get_all("License") or [""]]
    named = [_SAID.get(one.lower()) or one for one in said]
    return " AND ".join(dict.fromkeys(named)) if all(map(permissive, named)) else None


def permissive(expression: str) -> bool:
    """Whether an SPDX expression lets its code be used under permissive terms: every part of an AND, one of an OR."""
    words = _WORDS.findall(expression)
    try:
        answer, rest = _any(words)
    except IndexError:
        return False
    return answer and not rest


def _any(words: list[str]) -> tuple[bool, list[str]]:
    answer, words = _all(words)
    while words and words[0].upper() == "OR":
        other, words = _all(words[1:])
        answer = answer or other
    return answer, words


def _all(words: list[str]) -> tuple[bool, list[str]]:
    answer, words = _one(words)
    while words and words[0].upper() == "AND":
        other, words = _one(words[1:])
        answer = answer and other
    return answer, words


def _one(words: list[str]) -> tuple[bool, list[str]]:
    if words[0] == "(":
        answer, rest = _any(words[1:])
        if rest[0] != ")":
            raise IndexError
        return answer, rest[1:]
    if len(words) > 2 and words[1].upper() == "WITH":  # exceptions only ever allow more
        return words[0].upper() in PERMISSIVE, words[3:]
    return words[0].upper() in PERMISSIVE, words[1:]
