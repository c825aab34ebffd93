"""Imports that a file lacks: a module that is named and not imported, a name that others want to import from it."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator

from deskagent.repair.candidates.base import Place, Proposal, Table
from deskagent.repair.nodes import Node
from deskagent.repair.syntax import Syntax

_IMPORTS = frozenset({"import_statement", "import_from_statement", "future_import_statement"})
_CANNOT = re.compile(r"cannot import name '(\w+)'|module '[\w.]+' has no attribute '(\w+)'")
# names → the modules of the standard library that have them
_HOMES = {
    "collections": "OrderedDict defaultdict namedtuple deque Counter ChainMap",
    "functools": "partial wraps lru_cache cached_property reduce total_ordering singledispatch",
    "itertools": "chain islice groupby product zip_longest takewhile dropwhile repeat count cycle accumulate tee",
    "pathlib": "Path PurePath PurePosixPath", "decimal": "Decimal", "fractions": "Fraction",
    "datetime": "datetime timedelta timezone date", "contextlib": "contextmanager suppress closing ExitStack",
    "dataclasses": "dataclass field fields replace asdict", "enum": "Enum IntEnum Flag auto",
    "typing": "Any Optional Union List Dict Tuple Set Callable Iterable Iterator Sequence Mapping TYPE_CHECKING cast "
              "NamedTuple TypeVar Generic",
    "collections.abc": "Mapping Sequence Iterable Iterator Callable MutableMapping Hashable Set",
    "copy": "deepcopy", "math": "ceil floor sqrt isnan isinf inf nan log", "io": "StringIO BytesIO",
    "abc": "ABC abstractmethod", "operator": "itemgetter attrgetter", "textwrap": "dedent indent", "re": "escape",
    "urllib.parse": "quote unquote urlparse urljoin urlsplit urlencode", "uuid": "uuid4 UUID",
    "inspect": "isclass signature", "warnings": "warn", "string": "ascii_letters digits", "threading": "Lock Thread",
}  # fmt: skip


def lines(syntax: Syntax) -> list[Node]:
    """The module's own import statements."""
    return [n for n in syntax.root.parts if n.kind in _IMPORTS]


def added(line: str, syntax: Syntax) -> tuple[int, int, str]:
    """The edit that puts an import line after the last one, or where code begins."""
    imports = lines(syntax)
    if imports:
        at = syntax.line_end(imports[-1].end_row)
        return at, at, f"\n{line}"
    parts = syntax.root.parts
    at = syntax.line_start(parts[1 if len(parts) > 1 and parts[0].text[:1] in "'\"rR" else 0].row)
    return at, at, f"{line}\n"


def unknown(node: Node, place: Place) -> Iterator[Proposal]:
    """`name 'x' is not defined`: it is imported, as a module of the standard library or from where its like are."""
    here = {n.text for n in place.nodes if n.kind == "identifier"}
    for name in sorted(place.hints.missing & here):
        if name in place.names:
            continue
        for other in lines(place.syntax):
            module = other.get("module_name")
            home = module.text if module is not None else ""
            if name in _HOMES.get(home, "").split():
                yield _more(other, name, 1.0)
        if name in sys.stdlib_module_names:
            yield _line(f"import {name}", place, 1.0)
        for home, names in _HOMES.items():
            if name in names.split():
                yield _line(f"from {home} import {name}", place, 0.9)
        for other in lines(place.syntax):
            module = other.get("module_name")
            if module is not None and module.text.startswith("."):
                yield _more(other, name, 0.5)


def _line(line: str, place: Place, weight: float) -> Proposal:
    return Proposal("import.more", weight, (added(line, place.syntax),), line)


def _more(statement: Node, name: str, weight: float) -> Proposal:
    """`from a import b` → `from a import b, name`, in the order of the alphabet where the names are in it."""
    names = statement.all("name")
    texts = [part.text for part in names]
    rows = len(names) > 1 and names[-1].row > names[-2].row
    gap = f"\n{statement.syntax.indent(names[-1])}" if rows else " "
    index = sum(text < name for text in texts) if texts == sorted(texts) else len(texts)
    if index:
        at, piece = names[index - 1].end, f",{gap}{name}"
    else:
        at, piece = names[0].start, f"{name},{gap}"
    return Proposal("import.more", weight, ((at, at, piece),), f"import {name}: {statement.text[:40]}")


def wanted(node: Node, place: Place) -> Iterator[Proposal]:
    """`cannot import name 'X' from 'pkg'`: the package's own import lines give it too."""
    errors = "\n".join(place.hints.examples.errors) + place.hints.said
    names = [name for found in _CANNOT.findall(errors) for name in found if name]
    held = {part.text.rpartition(" ")[2] for part in node.all("name")}
    for name in dict.fromkeys(names):
        if name not in held and name not in place.names and node.all("name"):
            yield _more(node, name, 1.0)


def other(node: Node, place: Place) -> Iterator[Proposal]:
    """`from a import b as c` → `from a import c`; `import a.b as c`: the name that is meant, not its like."""
    for part in node.all("name"):
        name, alias = part.get("name"), part.get("alias")
        if part.kind == "aliased_import" and name is not None and alias is not None:
            yield Proposal("import.other", 0.6, ((part.start, part.end, alias.text),), f"import {alias.text}")


TABLE: Table = {"statement": (unknown,), "import_from_statement": (wanted, other)}
