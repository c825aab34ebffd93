"""Which languages the index understands: their file names, grammar wheels and queries, as one table.

A grammar is imported when a file first needs it. One whose wheel is missing is left out: files of that
language are found by their text alone, and the index's status says so.

The queries lie in `grammars/*.scm`. What their captures mean:

    @function @method @class @interface @struct @enum @type @module @variable @constant @field @macro
               a definition of that kind; the capture spans all of it
    @scope     gives its name to the definitions inside and is none itself (Rust's `impl`)
    @call      the name of what is called
    @ref       any name at all
"""

from __future__ import annotations

import functools
import importlib.util
import logging
import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import tree_sitter

_log = logging.getLogger(__name__)

_QUERIES = Path(__file__).with_name("grammars")


@dataclass(frozen=True)
class Language:
    """A row of the table. `function` of `module` hands over the grammar, `query` names its file of captures."""

    name: str
    module: str
    suffixes: tuple[str, ...]
    query: str
    function: str = "language"

    @property
    def wheel(self) -> str:
        """The name to install it by."""
        return self.module.replace("_", "-")


LANGUAGES: tuple[Language, ...] = (
    Language("python", "tree_sitter_python", (".py", ".pyi", ".pyw"), "python"),
    Language("javascript", "tree_sitter_javascript", (".js", ".jsx", ".mjs", ".cjs"), "javascript"),
    Language(
        "typescript", "tree_sitter_typescript", (".ts", ".mts", ".cts"), "typescript", "language_typescript"
    ),
    Language("tsx", "tree_sitter_typescript", (".tsx",), "typescript", "language_tsx"),
    Language("go", "tree_sitter_go", (".go",), "go"),
    Language("rust", "tree_sitter_rust", (".rs",), "rust"),
    Language("c", "tree_sitter_c", (".c", ".h"), "c"),
    Language("cpp", "tree_sitter_cpp", (".cc", ".cpp", ".cxx", ".c++", ".hh", ".hpp", ".hxx", ".ipp"), "cpp"),
    Language("java", "tree_sitter_java", (".java",), "java"),
)

BY_NAME = {language.name: language for language in LANGUAGES}
_BY_SUFFIX = {suffix: language for language in LANGUAGES for suffix in language.suffixes}
_CPLUSPLUS = re.compile(rb"^\s*(?:class|namespace|template|using)\b|\w::\w", re.MULTILINE)
_SHEBANG = re.compile(rb"#![^\n]*\b(python|node)[\d.]*\b")
_INTERPRETERS = {b"python": "python", b"node": "javascript"}


def language_of(path: str, source: bytes) -> Language | None:
    """The language of a file, by its name; headers and programs without a suffix also by their content."""
    name = path.rpartition("/")[2]
    suffix = name[name.rfind(".") :].lower() if "." in name[1:] else ""
    language = _BY_SUFFIX.get(suffix)
    if suffix == ".h" and _CPLUSPLUS.search(source):
        return BY_NAME["cpp"]
    if not suffix and (found := _SHEBANG.match(source)):
        return BY_NAME[_INTERPRETERS[found[1]]]
    return language


def missing() -> tuple[Language, ...]:
    """Languages of the table whose wheels aren't installed. No grammar is loaded to find that out: all of them take
    megabytes."""
    return tuple(
        language for language in BY_NAME.values() if importlib.util.find_spec(language.module) is None
    )


def tools(language: Language) -> tuple[tree_sitter.Language, tree_sitter.Query] | None:
    """The grammar and the compiled query of a language; None if its wheel is missing or of another era."""
    return _tools(language.name)


@functools.cache
def _tools(name: str) -> tuple[tree_sitter.Language, tree_sitter.Query] | None:
    language = BY_NAME[name]
    try:
        import tree_sitter

        grammar = tree_sitter.Language(getattr(importlib.import_module(language.module), language.function)())
        query = tree_sitter.Query(grammar, (_QUERIES / f"{language.query}.scm").read_text(encoding="utf-8"))
    except (ImportError, AttributeError, ValueError) as error:
        _log.info("%s is read as plain text: %s", name, error)
        return None
    return grammar, query
