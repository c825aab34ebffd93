"""Whether new Python code uses names that there are: bound where it stands or in it, built in, or seen in the project.

Made for throwing out what a small model dreams up, not for proof: an attribute may be any that is used somewhere, since
whose it is can't be told.
"""

from __future__ import annotations

import builtins
import keyword
import re
import sys
from collections.abc import Iterable
from functools import cache

from deskagent.repair.scope import Scopes
from deskagent.repair.syntax import Syntax
from deskagent.repair.tokens import lex
from deskagent.repair.types import Edit

_NAME = re.compile(rb"[A-Za-z_\x80-\xff]")
_WORD = re.compile(rb"[A-Za-z_\x80-\xff][0-9A-Za-z_\x80-\xff]*")
_KEYWORDS = frozenset(word.encode() for word in (*keyword.kwlist, *keyword.softkwlist))
_BUILTINS = frozenset(name.encode() for name in dir(builtins))
_MODULES = frozenset(name.encode() for name in sys.stdlib_module_names)


@cache
def _builtin_attributes() -> frozenset[bytes]:
    kinds = (object, int, float, str, bytes, list, dict, set, frozenset, tuple, type, Exception, open, range)
    return frozenset(name.encode() for kind in kinds for name in dir(kind))


class Names:
    """What is known of a file's names, and of those in files beside it."""

    def __init__(self, syntax: Syntax, others: Iterable[Syntax] = ()) -> None:
        self._scopes = Scopes(syntax)
        self._words = frozenset(_WORD.findall(syntax.source.utf8))
        self._elsewhere: set[bytes] = set()
        for other in others:
            self.add(other)

    def add(self, other: Syntax) -> None:
        """A file whose names may be attributes here."""
        self._elsewhere.update(_WORD.findall(other.source.utf8))

    def there(self, edit: Edit, syntax: Syntax) -> bool:
        """Whether each name of an edit's new text is there."""
        tokens = [token for _, token in lex(edit.new.encode()) if token[0] != 10]
        row = syntax.row_of(edit.start)
        node = syntax.by_line.get(row + 1) or syntax.root
        visible = {name.encode() for name in self._scopes.visible(node)}
        bound = _bound(tokens)
        before = root = b""  # the token before, and the name that a row of attributes begins with
        for number, token in enumerate(tokens):
            after = tokens[number + 1] if number + 1 < len(tokens) else b""
            if _NAME.match(token) and token[-1] not in b"'\"" and token not in _KEYWORDS:
                if before == b".":
                    known = root in _MODULES or self._is_attribute(token)
                elif after == b"=" and before in (b"(", b","):
                    known = True  # a parameter's name: whose, can't be told
                else:
                    known = token in visible or token in _BUILTINS or token in bound
                if not known:
                    return False
                root = root if before == b"." else token
            elif token != b".":
                root = b""
            before = token
        return True

    def _is_attribute(self, name: bytes) -> bool:
        return name in self._words or name in self._elsewhere or name in _builtin_attributes()


def _bound(tokens: list[bytes]) -> frozenset[bytes]:
    """Names that the text itself gives a value, roughly."""
    found: set[bytes] = set()
    imports = False
    for number, token in enumerate(tokens):
        before = tokens[number - 1] if number else b""
        after = tokens[number + 1] if number + 1 < len(tokens) else b""
        imports = token in (b"import", b"from") or (imports and token not in (b";", b":"))
        if not _NAME.match(token) or token in _KEYWORDS:
            continue
        if (
            after in (b"=", b":=")
            or before in (b"for", b"as", b"def", b"class", b"lambda")
            or (imports and (token in _MODULES or before != b"from"))
            or (after == b"," and b"=" in tokens[number:])
            or (before == b"," and after in (b"in", b"=", b":"))
        ):
            found.add(token)
    return frozenset(found)
