"""The errors that failing tests want, as code: `ShapeError("cannot multiply")`, with values of names in scope where
the message holds them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import product

from deskagent.repair.asked import Raised
from deskagent.repair.candidates.base import Place
from deskagent.repair.candidates.handed import handed
from deskagent.repair.candidates.known import calls_of, free_names
from deskagent.repair.nodes import Node
from deskagent.repair.patterns import HOLE
from deskagent.repair.scope import BUILTINS, Name
from deskagent.repair.syntax import Syntax
from deskagent.repair.values import Unknown

Import = tuple[int, int, str]
MAX_RAISED, MAX_FORMS, MAX_HOLDERS = 4, 8, 5
_TOKEN = re.compile(rf"'[^']*'|\"[^\"]*\"|{HOLE}|-?[\w]+(?:[.:/-]\w+)*")


def raised_here(place: Place) -> Iterator[tuple[str, str, tuple[Import, ...], float]]:
    """(name of the class, source of its arguments, edits that import it, how likely) for every error that is wanted;
    the arguments are "" where nothing is said."""
    for raised in place.hints.asked.raises[:MAX_RAISED]:
        for name, needed, share in _named(raised, place):
            for text, weight in _arguments(raised, place):
                yield name, text, needed, share * weight


def wanted_texts(place: Place) -> list[str]:
    """Messages that are wanted, as far as they are said."""
    return [raised.message for raised in place.hints.asked.raises[:MAX_RAISED] if raised.message]


def _named(raised: Raised, place: Place) -> Iterator[tuple[str, tuple[Import, ...], float]]:
    """How the class is called here."""
    if raised.name in place.names or raised.name in BUILTINS:
        yield raised.name, (), 1.0
        return
    last = raised.module.rpartition(".")[2]
    if last and last in place.names and place.names[last].origin == "import":
        yield f"{last}.{raised.name}", (), 1.0
        return
    edit = _import(raised, place.syntax) if raised.module else None
    if edit is not None:
        yield raised.name, (edit,), 0.8


def _import(raised: Raised, syntax: Syntax) -> Import | None:
    """The class put into an import of its module, or imported after the others."""
    last = raised.module.rpartition(".")[2]
    own = syntax.source.path.rpartition("/")[2].removesuffix(".py")
    if own == last:
        return None  # it would have to be there
    tops = [n for n in syntax.root.parts if n.kind in {"import_statement", "import_from_statement"}]
    for node in tops:
        module = node.get("module_name")
        names = node.all("name")
        if module is not None and names and module.text.rpartition(".")[2] == last:
            return names[-1].end, names[-1].end, f", {raised.name}"
    if raised.module.startswith("."):
        return None
    line = f"from {raised.module} import {raised.name}\n"
    if tops:
        at = syntax.line_end(tops[-1].end_row) + 1
        return (at, at, line) if at <= len(syntax.source.utf8) else None
    first = next((n for n in syntax.root.parts if n.kind != "expression_statement"), None)
    return (
        (syntax.line_start(first.row), syntax.line_start(first.row), line + "\n\n")
        if first is not None
        else None
    )


def _arguments(raised: Raised, place: Place) -> Iterator[tuple[str, float]]:
    if raised.message:
        yield from forms(raised.message, place)
        return
    found = _like(raised.name, place)
    yield "", 0.7
    for text in found[:4]:
        yield text, 0.6
    if not found:
        for text in dict.fromkeys(text for name in sorted(BUILTINS) if name.endswith("Error")
                                  for text in _like(name, place)):  # fmt: skip
            yield text, 0.3
        for name in place.own_variables[:3]:
            yield name.text, 0.3


def _like(name: str, place: Place) -> list[str]:
    """What the file gives errors of that class where it raises them, as far as it can be read here."""
    found: dict[str, None] = {}
    here = place.names.keys()
    for node in calls_of(place.syntax, name.rpartition(".")[2]):
        function, given = node.get("function"), node.get("arguments")
        if function is None or given is None or function.text != name:
            continue
        if given.end - given.start < 120 and free_names(given) - BUILTINS <= here:
            found[given.text[1:-1].strip()] = None
    return [text for text in found if text and "\n" not in text]


def forms(message: str, place: Place) -> Iterator[tuple[str, float]]:
    """A message as a literal or a formatted string, the likeliest MAX_FORMS."""
    tokens = [(m.start(), m.end(), m.group()) for m in _TOKEN.finditer(message)]
    open_ = HOLE in message
    choices: list[tuple[tuple[int, int], list[tuple[str, float]]]] = []
    for start, end, token in tokens:
        ways = _holders(token, place)
        if ways:
            choices.append(((start, end), ways))
    choices = sorted(choices, key=lambda choice: -choice[1][0][1])[:3]
    ranked: dict[str, float] = {}
    for picked in product(*([("", 0.0), *ways] for _, ways in choices)):
        weight = 1.0
        pieces = []
        for (span, ways), (text, share) in zip(choices, picked, strict=True):
            weight *= share if text else 1.0 - 0.75 * ways[0][1]
            if text:
                pieces.append((*span, text))
        out = _formatted(message, sorted(pieces))
        if HOLE not in out:
            ranked[out] = max(weight, ranked.get(out, 0.0))
    if open_ and not ranked:
        bare = message.replace(HOLE, "").strip(" :")
        ranked[_formatted(bare, [])] = 0.4
    yield from sorted(ranked.items(), key=lambda item: (-item[1], item[0]))[:MAX_FORMS]


def _holders(token: str, place: Place) -> list[tuple[str, float]]:
    """`{name}` fields whose value a token of the message may be → how likely."""
    bare = token.strip("'\"") if token[:1] in "'\"" and len(token) > 1 else token
    quoted = bare != token
    given = handed(place)
    found: dict[str, float] = {}
    values: dict[str, list[object]] = {}
    for row in (*given.rejected, *given.failing):
        for name, value in row.values.items():
            if not isinstance(value, Unknown):
                values.setdefault(name, []).append(value)
    for name, held in values.items():
        if any(not isinstance(v, bool) and _spoken(v) == bare for v in held):
            found[name + "!r" if quoted and any(isinstance(v, str) for v in held) else name] = 0.95
        if quoted and any(_spoken(v) == bare for v in held) and name in found:
            found[name] = 0.8
        for v in held:
            if isinstance(v, (list, tuple, dict, set, str)) and str(len(v)) == bare:
                found[f"len({name})"] = 0.7
            if type(v).__name__ == bare and not isinstance(v, str):
                found[f"type({name}).__name__"] = 0.8
    shown = token == HOLE or _shown(bare, place)
    if not found and shown:
        for name in _near(place)[:MAX_HOLDERS]:
            if name.text not in values:
                share = 0.75 if token == HOLE else 0.7 * shown
                found[name.text + "!r" if quoted else name.text] = share * _weight(name, place)
    if not found and bare.isdigit():
        for attribute in _attributes(place)[:4]:
            found[attribute] = 0.4
    return [("{" + text + "}" if not (quoted and not text.endswith("!r")) else token[0] + "{" + text + "}" + token[0],
             share) for text, share in sorted(found.items(), key=lambda item: -item[1])]  # fmt: skip


def _spoken(value: object) -> str:
    """A value's text; of whole numbers that are too large for one, none."""
    try:
        return str(value)
    except ValueError:
        return ""


def _shown(word: str, place: Place) -> float:
    """How likely a word of the message comes from what was handed in."""
    for value in place.hints.examples.given[:20]:
        if _spoken(value) == word:
            return 1.0
        if isinstance(value, str) and len(word) > 1 and re.search(rf"(?<!\w){re.escape(word)}(?!\w)", value):
            return 0.8
    for call in place.hints.asked.failing[:20]:
        for value in (*call.values, *call.keywords.values()):
            if _spoken(value) == word or (
                isinstance(value, str) and re.search(rf"(?<!\w){re.escape(word)}(?!\w)", value)
            ):
                return 0.8
    return 0.0


def _near(place: Place) -> list[Name]:
    """Locals and parameters, those first that the statement and the condition around it read."""
    return sorted(place.own_variables, key=lambda name: -_weight(name, place))


def _weight(name: Name, place: Place) -> float:
    here = {n.text for n in place.nodes if n.kind == "identifier"}
    branch = next((n for n in place.statement.ancestors() if n.kind in {"if_statement", "elif_clause"}), None)
    condition = branch.get("condition") if branch is not None else None
    if condition is not None and name.text in free_names(condition):
        first = min(
            (n.start for n in condition.walk() if n.kind == "identifier" and n.text == name.text), default=0
        )
        return 1.0 if first == condition.start else 0.85
    if name.text in here:
        return 0.9
    return 0.6 if name.origin in {"parameter", "loop"} else 0.5


def _attributes(place: Place) -> list[str]:
    inside: dict[str, None] = {}
    for node in place.scope_nodes:
        if node.kind == "attribute" and node.text.startswith("self.") and node.field != "function":
            inside[node.text] = None
    return [*inside]


def _formatted(message: str, pieces: list[tuple[int, int, str]]) -> str:
    """The message as source: an f-string where it has fields."""
    if not pieces:
        return _quoted(message)
    text, at = "", 0
    for start, end, field in pieces:
        text += message[at:start].replace("{", "{{").replace("}", "}}") + field
        at = end
    text += message[at:].replace("{", "{{").replace("}", "}}")
    if (
        text == pieces[0][2]
        and len(pieces) == 1
        and text.endswith("}")
        and "!" not in text
        and text[0] == "{"
    ):
        return f"str({text[1:-1]})"
    if ('"' in text and "'" in text) or "\\" in text or "\n" in text:
        return "f" + repr(text)
    return f"f'{text}'" if '"' in text else f'f"{text}"'


def _quoted(text: str) -> str:
    return f'"{text}"' if '"' not in text and "\\" not in text and text.isprintable() else repr(text)


def caught_as(node: Node) -> str:
    """The name of the error in the `except` clause around, "" where there is none."""
    for holder in node.ancestors():
        if holder.kind == "except_clause":
            target = next((n for n in holder.walk() if n.kind == "as_pattern_target"), None)
            return target.text if target is not None else ""
        if holder.kind == "function_definition":
            break
    return ""
