"""A conversation as a model's own chat template writes it, or ours where it knows no tools.

What people, files and tools say never becomes one of the model's control tokens, whatever it looks like: it is marked
before the template is filled in, and read as plain text after.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

Message = dict[str, Any]
Rendered = list[tuple[str, bool]]
"""Pieces of a prompt, and whether control tokens in them count."""

_FIRST, _LAST = 0xE000, 0xF000
"""Private letters of Unicode that stand for control tokens' names in contents."""
_CALLING = (
    "# Tools\n\nYou may call one or more functions. Their signatures, in JSON:\n<tools>\n{tools}\n</tools>\n\nTo call"
    ' one, write a JSON object with its name and arguments within <tool_call></tool_call>:\n<tool_call>\n{{"name": '
    '<function-name>, "arguments": <args-json-object>}}\n</tool_call>'
)


class Marked:
    """Control tokens' names in contents, as private letters. names: of the vocabulary's control tokens."""

    def __init__(self, names: Iterable[str]) -> None:
        known = sorted({name for name in names if len(name) > 2}, key=len, reverse=True)[: _LAST - _FIRST]
        self._letters = {name: chr(_FIRST + place) for place, name in enumerate(known)}
        self._names = {letter: name for name, letter in self._letters.items()}
        self._in_text = re.compile("|".join(map(re.escape, known)) or "(?!)")
        self._private = re.compile(f"[{chr(_FIRST)}-{chr(_LAST)}]")

    def mark(self, value: Any) -> Any:
        """`value` with every text in it marked."""
        if isinstance(value, str):
            plain = self._private.sub("\N{REPLACEMENT CHARACTER}", value)
            return self._in_text.sub(lambda hit: self._letters[hit[0]], plain)
        if isinstance(value, Mapping):
            return {self.mark(key): self.mark(each) for key, each in value.items()}
        if isinstance(value, Sequence):
            return [self.mark(each) for each in value]
        return value

    def split(self, text: str) -> Rendered:
        """The template's own words, in which control tokens count, and the marked ones, where they don't."""
        pieces: Rendered = []
        at = 0
        for hit in self._private.finditer(text):
            pieces += [(text[at : hit.start()], True), (self._names.get(hit[0], ""), False)]
            at = hit.end()
        return [piece for piece in [*pieces, (text[at:], True)] if piece[0]]


class Template:
    """fill: the model's chat template, as a function of messages and tools; None where it has none. text: its source.
    names: as in Marked."""

    def __init__(self, fill: Callable[..., str] | None, text: str, names: Iterable[str]) -> None:
        self._fill, self._marked = fill, Marked(names)
        self.tools = "tools" in text
        self.key = "parameters" if '"parameters"' in text and '"arguments"' not in text else "arguments"

    def render(
        self, messages: Sequence[Message], tools: Sequence[Mapping[str, Any]], **more: Any
    ) -> Rendered:
        """more: other things that templates know. Errors: ValueError where even the plainest form is refused."""
        marked = [self._marked.mark(message) for message in messages]
        told = [self._marked.mark(tool) for tool in tools]
        tries: list[tuple[list[Message], Any]] = []
        if self.tools or not tools:
            tries.append(([_with_objects(message) for message in marked], told or None))
        flat = plain(marked, told)
        tries += [(flat, None), (merged(flat), None)]
        why = ""
        for given, offered in tries:
            try:
                return self._marked.split(self._filled(given, offered, more))
            except Exception as error:  # a template is a program, and raises what it likes
                why = f"{type(error).__name__}: {error}"
        raise ValueError(f"its chat template can't be filled in: {why}")

    def _filled(self, messages: list[Message], tools: Any, more: Mapping[str, Any]) -> str:
        return _chatml(messages) if self._fill is None else self._fill(messages=messages, tools=tools, **more)


def plain(messages: Sequence[Message], tools: Sequence[Mapping[str, Any]]) -> list[Message]:
    """The same conversation without the roles and fields of tools, for templates that have none."""
    found: list[Message] = []
    if tools:
        signatures = "\n".join(json.dumps(tool, ensure_ascii=False) for tool in tools)
        found.append({"role": "system", "content": _CALLING.format(tools=signatures)})
    for message in messages:
        role, content = message["role"], message.get("content") or ""
        if role == "system" and found and found[0]["role"] == "system" and len(found) == 1:
            found[0]["content"] = f"{content}\n\n{found[0]['content']}"
        elif role == "tool":
            found.append({"role": "user", "content": f"<tool_response>\n{content}\n</tool_response>"})
        elif calls := message.get("tool_calls"):
            written = [f"<tool_call>\n{_written(call)}\n</tool_call>" for call in calls]
            found.append({"role": role, "content": "\n".join(filter(None, [content, *written]))})
        else:
            found.append({"role": role, "content": content})
    return _alternating(found)


def merged(messages: Sequence[Message]) -> list[Message]:
    """What a system message says, at the beginning of the person's first: for templates without a system's role."""
    system = "\n\n".join(message["content"] for message in messages if message["role"] == "system")
    rest = [dict(message) for message in messages if message["role"] != "system"]
    if system and rest and rest[0]["role"] == "user":
        rest[0]["content"] = f"{system}\n\n{rest[0]['content']}"
    return rest


def _alternating(messages: list[Message]) -> list[Message]:
    found: list[Message] = []
    for message in messages:
        if found and found[-1]["role"] == message["role"] == "user" and _texts(found[-1], message):
            found[-1] = {"role": "user", "content": f"{found[-1]['content']}\n\n{message['content']}"}
        else:
            found.append(message)
    return found


def _texts(*messages: Message) -> bool:
    return all(isinstance(message["content"], str) for message in messages)


def _with_objects(message: Message) -> Message:
    """Arguments as objects, which is what templates write as JSON."""
    if not message.get("tool_calls"):
        return {"content": "", **message} if message["role"] == "assistant" else message
    calls = []
    for call in message["tool_calls"]:
        function = call["function"]
        calls.append({**call, "function": {**function, "arguments": json.loads(function["arguments"])}})
    return {"content": "", **message, "tool_calls": calls}


def _written(call: Mapping[str, Any]) -> str:
    function = call["function"]
    return json.dumps(
        {"name": function["name"], "arguments": json.loads(function["arguments"])}, ensure_ascii=False
    )


def _chatml(messages: Sequence[Message]) -> str:
    """For files without a template: what most of them were trained on."""
    said = "".join(f"<|im_start|>{m['role']}\n{m['content']}<|im_end|>\n" for m in messages)
    return f"{said}<|im_start|>assistant\n"
