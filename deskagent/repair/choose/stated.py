"""What a project itself states about the edited functions: doctests, examples in words, calls with plain arguments
that stand in its code, and pairs of functions of which one takes back what the other does.

Collected here from the unedited files; tried by worker/stated.py.
"""

from __future__ import annotations

import ast
import doctest
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from deskagent.repair.choose.targets import Target, functions, parse

_DOCS, _CALLS, _LAWS = 8, 24, 12  # tried at most
_LONG = 300  # characters of an expression
_EXAMPLE = re.compile(r"^(.*?)\s*(?:->|=>|→|==|returns|gives|yields)\s*(\S.*?)$")
_ONCE = re.compile(
    r"^_?(?:normali[sz]e|clean|canonical\w*|strip|simplify|sort|dedup\w*|unique|flatten|trim|collapse|squeeze)"
)
_PAIRS = (
    ("encode", "decode"),
    ("dump", "load"),
    ("dumps", "loads"),
    ("pack", "unpack"),
    ("escape", "unescape"),
    ("quote", "unquote"),
    ("serialize", "deserialize"),
    ("compress", "decompress"),
    ("encrypt", "decrypt"),
    ("to", "from"),
    ("format", "parse"),
    ("render", "parse"),
    ("join", "split"),
    ("write", "read"),
    ("wrap", "unwrap"),
)


@dataclass(frozen=True)
class Statement:
    """Something to try in the module at `target.path`. `kind` "doc": `text` is a docstring; "example" and "law": `text`
    equals `want`; "call": `text` alone, a call that stands in the code."""

    target: Target
    kind: str
    text: str
    want: str | None = None

    def message(self) -> dict[str, Any]:
        """As worker/stated.py reads it."""
        if self.kind == "doc":
            return {"path": self.target.path, "doc": self.text}
        return {"path": self.target.path, "in": self.text, "want": self.want}


@dataclass(frozen=True)
class Told:
    """How a statement, or one example of a docstring, ended: the statement as one would write it, whether it `held`
    (None: that can't be told) and what came out."""

    kind: str
    text: str
    held: bool | None
    out: str


@dataclass(frozen=True)
class Site:
    """A call of a function by its name: the call, the node that it stands in, and the file's place among its like."""

    call: ast.Call
    parent: ast.AST
    file: int = 0


def sites(files: Mapping[str, ast.Module], names: Iterable[str]) -> Mapping[str, Sequence[Site]]:
    """Function's own name → its calls in `files`, the files in their order."""
    found: dict[str, list[Site]] = {name: [] for name in names}
    for order, tree in enumerate(files.values()):
        for parent in ast.walk(tree):
            for child in ast.iter_child_nodes(parent):
                if isinstance(child, ast.Call):
                    callee = getattr(child.func, "id", getattr(child.func, "attr", ""))
                    if callee in found:
                        found[callee].append(Site(child, parent, order))
    for places in found.values():
        places.sort(key=lambda site: (site.file, site.call.lineno, site.call.col_offset))
    return found


def collect(
    edited: Sequence[Target], read: Callable[[str], bytes], calls: Mapping[str, Sequence[Site]]
) -> list[Statement]:
    """What there is to try for the functions `edited`, each kind within its bounds."""
    found: dict[str, list[Statement]] = {"doc": [], "example": [], "call": [], "law": []}
    for path in dict.fromkeys(target.path for target in edited):
        tree = parse(read(path))
        if tree is None:
            continue
        here = [target for target in edited if target.path == path]
        nodes = dict(functions(tree))
        for target, text in _docs(tree, here, nodes):
            if ">>>" in text:
                found["doc"].append(Statement(target, "doc", text))
            found["example"] += _examples(target, text)
        for target in here:
            if "." not in target.name and target.name in nodes:
                found["call"] += _calls(target, calls.get(target.name, ()))
                found["law"] += _laws(target, nodes, calls)
    bounds = {"doc": _DOCS, "example": _CALLS, "call": _CALLS, "law": _LAWS}
    return [s for kind, most in bounds.items() for s in list(dict.fromkeys(found[kind]))[:most]]


def told(statements: Sequence[Statement], message: Mapping[str, Any]) -> Iterator[Told]:
    """What a message of worker/stated.py says of them. KeyError, IndexError, TypeError where it is none."""
    statement = statements[int(message["i"])]
    if statement.kind != "doc":
        want = f" == {statement.want}" if statement.want is not None else ""
        held = message["held"]
        yield Told(
            statement.kind, statement.text + want, None if held is None else bool(held), str(message["out"])
        )
        return
    examples = {e.lineno: e for e in doctest.DocTestParser().get_examples(statement.text)}
    for line, held, out in message.get("examples", ()):
        example = examples[int(line)]
        want = " ".join(example.want.split())
        yield Told("example", f"{example.source.strip()} → {want}", bool(held), str(out))


def _docs(
    tree: ast.Module, edited: Sequence[Target], nodes: Mapping[str, ast.AST]
) -> Iterator[tuple[Target, str]]:
    """The docstrings of the functions, of the classes that they are in, and texts that stand in the module."""
    short = [target.short for target in edited]
    for target in edited:
        node = nodes.get(target.name)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield from ((target, text) for text in _texts(node.body))
    for node in tree.body:
        if isinstance(node, ast.ClassDef):
            for target in edited:
                if target.name.startswith(f"{node.name}."):
                    yield from ((target, text) for text in _texts(node.body))
    for text in _texts(tree.body):
        if any(re.search(rf"\b{re.escape(name)}\b", text) for name in short):
            yield edited[0], text


def _texts(body: Sequence[ast.stmt]) -> Iterator[str]:
    for node in body:
        if (
            isinstance(node, ast.Expr)
            and isinstance(node.value, ast.Constant)
            and isinstance(node.value.value, str)
        ):
            yield node.value.value


def _examples(target: Target, text: str) -> Iterator[Statement]:
    """Lines like `f(3) -> 4`, `f(3) == 4`, ``f(3) returns 4``, where both sides are Python."""
    if "." in target.name:
        return
    for line in text.splitlines():
        line = line.replace("`", "").strip().lstrip("*- ")
        found = _EXAMPLE.match(line) if f"{target.name}(" in line and ">>>" not in line else None
        if found is None or not line.startswith(target.name):
            continue
        want = re.split(r"\s+#|,? (?:because|since|as|but)\b", found[2])[0].rstrip(".;")
        call = _expression(found[1])
        if isinstance(call, ast.Call) and _plain_call(call) and _is_literal(_expression(want)):
            yield Statement(target, "example", ast.unparse(call), want)


def _expression(text: str) -> ast.expr | None:
    try:
        return ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def _is_literal(node: ast.expr | None) -> bool:
    try:
        if node is not None:
            ast.literal_eval(node)
            return True
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        return False
    return False


def _plain_call(call: ast.Call) -> bool:
    """Whether all arguments are literals, so that the call means the same wherever it stands."""
    values = [*call.args, *(k.value for k in call.keywords)]
    named = all(k.arg is not None for k in call.keywords)
    return named and bool(values) and all(_is_literal(value) for value in values)


def _calls(target: Target, found: Sequence[Site]) -> Iterator[Statement]:
    for site in found:
        if _plain_call(site.call):
            plain = ast.Call(ast.Name(target.name), site.call.args, site.call.keywords)
            text = ast.unparse(plain)
            if len(text) <= _LONG:
                yield Statement(target, "call", text)


def _laws(
    target: Target, nodes: Mapping[str, ast.AST], calls: Mapping[str, Sequence[Site]]
) -> Iterator[Statement]:
    """There and back again, and twice is like once: only for what bears a name that promises it."""
    inputs = [
        ast.unparse(site.call.args[0])
        for site in calls.get(target.name, ())
        if len(site.call.args) == 1 and not site.call.keywords and _is_literal(site.call.args[0])
    ]
    back = [other for name, other in _partners(target.name) if name in nodes and other in nodes]
    for value in dict.fromkeys(text for text in inputs if len(text) <= _LONG):
        for other in back:
            yield Statement(target, "law", f"{other}({target.name}({value}))", value)
        if _ONCE.match(target.name):
            yield Statement(
                target, "law", f"{target.name}({target.name}({value}))", f"{target.name}({value})"
            )


def _partners(name: str) -> Iterator[tuple[str, str]]:
    """(name, the function that takes back what it does), where a word of the name has an opposite."""
    words = name.split("_")
    for one, two in (*_PAIRS, *((b, a) for a, b in _PAIRS)):
        for at, word in enumerate(words):
            if word == one:
                yield name, "_".join([*words[:at], two, *words[at + 1 :]])


def partners(name: str) -> list[str]:
    """Names that functions which take back what `name` does would bear."""
    return [other for _, other in _partners(name)]
