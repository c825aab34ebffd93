"""Calls that models write into their text, whole, in pieces and broken."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deskagent.providers.written import Piece, WrittenCalls

NAMES = ("read", "edit")
READ = ("read", {"path": "a.py"})
CALLS = {
    "hermes": '<tool_call>\n{"name": "read", "arguments": {"path": "a.py"}}\n</tool_call>',
    "hermes without an end": '<tool_call>\n{"name": "read", "arguments": {"path": "a.py"}}',
    "hermes cut off by a bracket": '<tool_call>\n{"name": "read", "arguments": {"path": "a.py"}\n</tool_call>',
    "braces twice": '{{"name": "read", "arguments": {"path": "a.py"}}}',
    "marked, braces twice": '<tool_call>{{"name": "read", "arguments": {"path": "a.py"}}}</tool_call>',
    "rubbish behind": '<tool_call>\n{"name": "read", "arguments": {"path": "a.py"}}\n\n```json\n{\n',
    "JSON in JSON": '<tool_call>{"name": "read", "arguments": "{\\"path\\": \\"a.py\\"}"}</tool_call>',
    "a comma too many": '<tool_call>{"name": "read", "arguments": {"path": "a.py",}}</tool_call>',
    "Python's quotes": "<tool_call>{'name': 'read', 'arguments': {'path': 'a.py'}}</tool_call>",
    "fenced": '```json\n{"name": "read", "arguments": {"path": "a.py"}}\n```',
    "bare": '{"name": "read", "arguments": {"path": "a.py"}}',
    "llama": '<|python_tag|>{"name": "read", "parameters": {"path": "a.py"}}',
    "pythonic": '[read(path="a.py")]',
    "mistral": '[TOOL_CALLS] [{"name": "read", "arguments": {"path": "a.py"}}]',
    "mistral's newer": '[TOOL_CALLS]read[ARGS]{"path": "a.py"}',
    "qwen3-coder": "<tool_call>\n<function=read>\n<parameter=path>\na.py\n</parameter>\n</function>\n</tool_call>",
    "function": '<function=read>{"path": "a.py"}</function>',
    "openai": '<tool_call>{"function": {"name": "read", "arguments": {"path": "a.py"}}}</tool_call>',
}
TEXTS = (
    "Just words.",
    '{"name": "somebody", "arguments": 3}\n',
    '```json\n{"name": "my-package", "version": "1"}\n```\nThat is it.',
    "```python\nprint([1, 2])\n```\n",
    "[a link](there) and a < b, `{x}`\n\n- one\n- [ ] two\n",
    "It ends in <tool",
)


def told(pieces: list[str]) -> tuple[str, list[tuple[str, object]]]:
    reader, text, calls = WrittenCalls(NAMES), "", []
    for piece in [part for each in pieces for part in reader.feed(each)] + list(reader.rest()):
        if isinstance(piece, str):
            text += piece
        else:
            calls.append((piece[0], json.loads(piece[1])))
    return text, calls


@pytest.mark.parametrize("written", CALLS.values(), ids=CALLS)
def test_every_form_is_read_whole_and_letter_by_letter(written: str) -> None:
    assert told([written]) == ("", [READ])
    assert told(list(written)) == ("", [READ])
    assert told(["I look.\n", *written]) == ("I look.\n", [READ])


@pytest.mark.parametrize("text", TEXTS)
def test_what_is_no_call_stays_text(text: str) -> None:
    assert told([text]) == (text, [])
    assert told(list(text)) == (text, [])


def test_several_calls() -> None:
    both = CALLS["hermes"] + "\n" + CALLS["hermes"]
    assert told(list(both)) == ("", [READ, READ])
    assert told(["[TOOL_CALLS] " + json.dumps([{"name": "read", "arguments": {"path": "a.py"}}] * 2)])[1] == [
        READ,
        READ,
    ]


def test_a_call_that_cannot_be_read_keeps_its_name_and_words() -> None:
    reader = WrittenCalls(NAMES)
    found = [*reader.feed('<tool_call>{"name": "edit", "arguments": {"path: 3</tool_call>'), *reader.rest()]
    assert found == [("edit", '{"path: 3')] and reader.called


@given(st.text(alphabet='ab<>tol_cl/[]{}":,`\n read', max_size=60), st.integers(1, 7))
def test_text_is_the_same_in_any_pieces(text: str, size: int) -> None:
    pieces = [text[at : at + size] for at in range(0, len(text), size)]
    once, often = told_raw([text]), told_raw(pieces)
    assert "".join(p for p in once if isinstance(p, str)) == "".join(p for p in often if isinstance(p, str))
    assert [p for p in once if not isinstance(p, str)] == [p for p in often if not isinstance(p, str)]


def told_raw(pieces: list[str]) -> list[Piece]:
    reader = WrittenCalls(NAMES)
    return [part for each in pieces for part in reader.feed(each)] + list(reader.rest())
