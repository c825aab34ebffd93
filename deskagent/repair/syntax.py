"""Python source as a tree of light nodes that know their parent, and the statements that lines belong to."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Any

from deskagent.repair.compiles import function_error, syntax_error
from deskagent.repair.nodes import Node
from deskagent.repair.source import SourceFile

if TYPE_CHECKING:
    import tree_sitter

COMPOUND = frozenset(
    [
        "if_statement",
        "elif_clause",
        "else_clause",
        "for_statement",
        "while_statement",
        "with_statement",
        "try_statement",
        "except_clause",
        "except_group_clause",
        "finally_clause",
        "function_definition",
        "class_definition",
        "match_statement",
        "case_clause",
    ]
)
SIMPLE = frozenset(
    [
        "expression_statement",
        "return_statement",
        "assert_statement",
        "raise_statement",
        "import_statement",
        "import_from_statement",
        "future_import_statement",
        "pass_statement",
        "break_statement",
        "continue_statement",
        "delete_statement",
        "global_statement",
        "nonlocal_statement",
        "type_alias_statement",
        "print_statement",
        "exec_statement",
    ]
)
STATEMENTS = COMPOUND | SIMPLE
FUNCTIONS = frozenset({"function_definition"})
LOOPS = frozenset({"for_statement", "while_statement"})
CLAUSES = frozenset(
    ["elif_clause", "else_clause", "except_clause", "except_group_clause", "finally_clause", "case_clause"]
)
_LONE_CR = re.compile(rb"\r(?!\n)")
_STRINGS = frozenset({"string", "concatenated_string"})


@lru_cache(maxsize=1)
def _parser() -> tree_sitter.Parser:
    import tree_sitter
    import tree_sitter_python

    return tree_sitter.Parser(tree_sitter.Language(tree_sitter_python.language()))


class Syntax:
    """The tree of one Python file; `languages.tree` has those of others.

    `functions` are the kinds that open a function, `string_text` those that hold a string's characters.
    """

    functions: frozenset[str] = FUNCTIONS
    string_text: frozenset[str] = frozenset({"string_content"})

    def __init__(self, source: SourceFile) -> None:
        self.source = source
        # A lone CR ends a line for Python but not for the grammar; same length, so offsets hold.
        code = _LONE_CR.sub(b"\n", source.utf8)
        tree = self.parse(code)
        self.broken: bool = tree.root_node.has_error
        self.root = self._convert(tree.root_node)
        self.starts = [0, *(match.end() for match in re.finditer(rb"\n", code))]
        self._code = code

    def parse(self, code: bytes) -> Any:
        """The grammar's own tree of `code`."""
        return _parser().parse(code)

    def own_rows(self, statement: Node) -> tuple[int, int]:
        """First and last row of a statement's own text."""
        return own_rows(statement)

    def own_nodes(self, statement: Node) -> Iterator[Node]:
        """Nodes of a statement's own text."""
        return own_nodes(statement)

    def function_of(self, node: Node) -> Node | None:
        """The function that `node` belongs to."""
        return function_of(node)

    def name_of(self, function: Node) -> str:
        """A function's name, "" where it has none."""
        name = function.get("name")
        return name.text if name is not None else ""

    def is_docstring(self, statement: Node) -> bool:
        """Whether a statement is text alone."""
        return is_docstring(statement)

    def named_data(self, statement: Node) -> list[str]:
        """Names that an assignment outside of any function gives a value."""
        if statement.kind != "expression_statement" or function_of(statement) is not None:
            return []
        value = statement.parts[0] if statement.parts else None
        left = value.get("left") if value is not None and value.kind == "assignment" else None
        return [name.text for name in left.walk() if name.kind == "identifier"] if left is not None else []

    def _convert(self, top: Any) -> Node:
        cursor = top.walk()
        parent: Node | None = None
        root: Node | None = None
        while True:
            raw = cursor.node
            rows = (raw.start_point[0], raw.end_point[0])
            node = Node(
                self, raw.type, raw.start_byte, raw.end_byte, rows, raw.is_named, cursor.field_name, parent
            )
            if parent is None:
                root = node
            else:
                parent.children.append(node)
            if cursor.goto_first_child():
                parent = node
                continue
            while not cursor.goto_next_sibling():
                if not cursor.goto_parent() or parent is None or parent is root:
                    assert root is not None
                    return root
                parent = parent.parent

    @cached_property
    def statements(self) -> list[Node]:
        """Every statement and clause, in source order."""
        return [node for node in self.root.walk() if node.kind in STATEMENTS]

    @cached_property
    def calls(self) -> list[Node]:
        """Every call, in source order."""
        return [node for node in self.root.walk() if node.kind == "call"]

    @cached_property
    def attribute_uses(self) -> dict[tuple[str, bool], set[str]]:
        """(object's text, whether it is called) → the attributes used so; "" stands for any object."""
        found: dict[tuple[str, bool], set[str]] = {}
        for node in self.root.walk():
            attribute, owner = (
                (node.get("attribute"), node.get("object")) if node.kind == "attribute" else (None, None)
            )
            if attribute is None or owner is None or node.parent is None:
                continue
            called = node.parent.kind == "call" and node.field == "function"
            for text in ("", owner.text) if owner.end - owner.start <= 60 else ("",):
                found.setdefault((text, called), set()).add(attribute.text)
        return found

    @cached_property
    def format_specifiers(self) -> list[str]:
        """The distinct short format specifiers of the file's f-strings."""
        found = (
            node
            for node in self.root.walk()
            if node.kind == "format_specifier" and node.end - node.start < 12
        )
        return list(dict.fromkeys(node.text for node in found))

    @cached_property
    def by_line(self) -> dict[int, Node]:
        """1-based line → the statement whose own text (a compound's header) covers it; the innermost, the first
        of several on a line."""
        found: dict[int, Node] = {}
        for statement in self.statements:
            first, last = own_rows(statement)
            for row in range(first, last + 1):
                known = found.get(row + 1)
                if known is None or (statement.inside(known) and statement.row > known.row):
                    found[row + 1] = statement
        return found

    def column(self, node: Node) -> int:
        return node.start - self.starts[node.row]

    def row_of(self, offset: int) -> int:
        """0-based row of a byte offset."""
        return bisect_right(self.starts, offset) - 1

    def indent(self, node: Node) -> str:
        """The white space that the line of `node` begins with."""
        start = self.starts[node.row]
        line = self._code[start : node.end]
        return line[: len(line) - len(line.lstrip(b" \t\f"))].decode()

    @cached_property
    def unit(self) -> str:
        """One step of indentation as the file uses it."""
        for node in self.statements:
            body = block(node)
            if body is not None and body.parts and body.row > node.row:
                outer, inner = self.indent(node), self.indent(body.parts[0])
                if inner.startswith(outer) and len(inner) > len(outer):
                    return inner[len(outer) :]
        return "    "

    def starts_line(self, node: Node) -> bool:
        """Nothing but white space stands before `node` on its line."""
        return not self._code[self.starts[node.row] : node.start].strip()

    def line_start(self, row: int) -> int:
        return self.starts[row]

    def line_end(self, row: int) -> int:
        """Offset of the row's line end, the end of the text for the last row."""
        following = self.starts[row + 1] if row + 1 < len(self.starts) else len(self._code) + 1
        end = following - 1
        return end - 1 if end and end < len(self._code) and self._code[end - 1 : end + 1] == b"\r\n" else end

    def top_level(self, offset: int) -> Node | None:
        """The module's own statement that holds `offset`."""
        return next(
            (n for n in self.root.children if n.start <= offset <= n.end and n.kind != "comment"), None
        )

    @cached_property
    def error(self) -> SyntaxError | None:
        """Why the file isn't Python of the version we run on, None if it is."""
        return syntax_error(self.source.text)

    @property
    def slipped(self) -> bool:
        """Whether the file is no Python of any version, by the grammar or by its indentation."""
        return self.error is not None and (self.broken or isinstance(self.error, IndentationError))

    def still_parses(self, edits: Any) -> bool:
        """Whether the file with `edits` in it is still good Python: for our own version by the compiler, else by
        the grammar. Only the module's statements that the edits touch are compiled, as they stand alone."""
        first, last = min(e.start for e in edits), max(e.end for e in edits)
        code = self.source.edited(edits)
        shift = len(code) - len(self.source.utf8)
        touched = [
            n for n in self.root.children if n.end >= first and n.start <= last and n.kind != "comment"
        ]
        if self.slipped:
            return syntax_error(code.decode("utf-8", "replace")) is None
        if self.error is not None:  # Python of another version
            return not _parser().parse(_LONE_CR.sub(b"\n", code)).root_node.has_error
        function = self._function_around(first, last)
        if function is not None and self._stands_alone(function, code, shift):
            return True
        start = self.starts[min((n.row for n in touched), default=self.row_of(first))]
        end = max([last, *(n.end for n in touched)]) + shift
        following = code.find(b"\n", end)
        region = code[min(start, first) : following if following >= 0 else None]
        return syntax_error(region.decode("utf-8", "replace")) is None

    def _stands_alone(self, function: Node, code: bytes, shift: int) -> bool:
        """Whether the function, as it is in `code`, is good Python that leaves what follows as it was: then there is no
        need to compile all of its class."""
        text = code[self.starts[function.row] : function.end + shift].decode("utf-8", "replace")
        if text.rstrip().endswith("\\"):  # joined with what follows
            return False
        return function_error(text, self.indent(function)) is None

    def _function_around(self, start: int, end: int) -> Node | None:
        """The method that holds all of that text below its first line."""
        at = bisect_right(self._method_starts, start) - 1
        found = self._methods[at] if at >= 0 else None
        if found is None or not (found.start < start and end <= found.end):
            return None
        return found

    @cached_property
    def _methods(self) -> list[Node]:
        """Functions that stand in classes and in no other function, their lines for themselves, in source order."""
        found: list[Node] = []
        for node in self.statements:
            if node.kind in FUNCTIONS and self.starts_line(node) and not (found and node.inside(found[-1])):
                found.append(node)
        return [node for node in found if self.column(node)]

    @cached_property
    def _method_starts(self) -> list[int]:
        return [node.start for node in self._methods]


def block(statement: Node) -> Node | None:
    """The body of a compound statement."""
    if statement.kind == "match_statement":
        return statement.get("body")
    return next((child for child in statement.children if child.kind == "block"), None)


def own_rows(statement: Node) -> tuple[int, int]:
    """First and last row of a statement's own text: all of a simple one, the header of a compound one."""
    body = block(statement)
    if statement.kind not in COMPOUND or body is None:
        return statement.row, statement.end_row
    colon = next((c for c in reversed(statement.children) if c.kind == ":" and c.start < body.start), None)
    return statement.row, colon.row if colon is not None else statement.row


def own_nodes(statement: Node) -> Iterator[Node]:
    """Nodes of a statement's own text: not its body, its clauses, docstrings, annotations or decorators."""
    if is_docstring(statement):
        return
    stack = [statement]
    while stack:
        node = stack.pop()
        if node is not statement and (
            node.kind == "block" or node.kind in STATEMENTS or node.kind in _SKIPPED
        ):
            continue
        yield node
        stack.extend(reversed(node.children))


_SKIPPED = frozenset({"type", "type_parameter", "comment", "decorator"})


def is_docstring(statement: Node) -> bool:
    """A string standing alone as a statement."""
    parts = statement.parts
    return statement.kind == "expression_statement" and len(parts) == 1 and parts[0].kind in _STRINGS


def statement_of(node: Node) -> Node | None:
    """The innermost statement that holds `node`, itself included."""
    return next((n for n in (node, *node.ancestors()) if n.kind in STATEMENTS), None)


def enclosing(node: Node, kinds: frozenset[str]) -> Node | None:
    """The nearest node of `kinds` around `node`, not `node` itself; a loop's or branch's header counts as in it."""
    return next((n for n in node.ancestors() if n.kind in kinds), None)


def function_of(node: Node) -> Node | None:
    """The function around `node`; a function's own header belongs to it."""
    return node if node.kind in FUNCTIONS else enclosing(node, FUNCTIONS)


def siblings(statement: Node) -> list[Node]:
    """The statements of the block that `statement` stands in, itself included."""
    parent = statement.parent
    return (
        []
        if parent is None
        else [part for part in parent.parts if part.kind in STATEMENTS | {"decorated_definition"}]
    )
