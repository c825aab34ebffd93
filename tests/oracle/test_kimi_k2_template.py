"""Our prompts in turns against the public template of Kimi K2's instruct model, as llama.cpp's sources carry it.

LLAMA_CPP_SOURCE names their folder. DESKAGENT_FREEZE=1 writes what the template says down for the other tests. That
copy writes the tools with blanks; the vendor's own and ours without.
"""

from __future__ import annotations

import importlib.util
import json
import os
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("torch")
jinja2 = pytest.importorskip("jinja2")

from engine.prompt import Call, Message, Prompt, text_of  # noqa: E402
from engine.prompt.turns import render  # noqa: E402

TEMPLATE = Path(os.environ.get("LLAMA_CPP_SOURCE", "")) / "models" / "templates" / "Kimi-K2-Instruct.jinja"
BESIDE = Path(__file__).parents[1] / "engine" / "prompt"
pytestmark = pytest.mark.skipif(
    not TEMPLATE.is_file(), reason="LLAMA_CPP_SOURCE names no sources of llama.cpp"
)


def _prompts() -> dict[str, Prompt]:
    spec = importlib.util.spec_from_file_location("prompt_examples", BESIDE / "conftest.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.TURNS


PROMPTS = _prompts()


def _call(call: Call) -> dict[str, Any]:
    return {"id": call.id, "function": {"name": call.name, "arguments": call.arguments}}


def _message(message: Message) -> dict[str, Any]:
    content: Any = message.content
    if not isinstance(content, str):
        content = [{"type": "text", "text": part} for part in content]
    made: dict[str, Any] = {"role": message.role, "content": content}
    if message.name:
        made["name"] = message.name
    if message.calls:
        made["tool_calls"] = [_call(call) for call in message.calls]
    return made


def template_says(prompt: Prompt) -> str:
    def tojson(value, ensure_ascii=False, separators=None):
        return json.dumps(value, ensure_ascii=ensure_ascii, separators=separators)

    environment = jinja2.Environment(trim_blocks=True, lstrip_blocks=True)
    environment.filters["tojson"] = tojson
    text = TEMPLATE.read_text().replace("tools | tojson", "tools | tojson(separators=(',', ':'))")
    messages = [_message(message) for message in prompt.messages]
    tools = list(prompt.tools)
    return environment.from_string(text).render(
        messages=messages, tools=tools, add_generation_prompt=prompt.answer
    )


@pytest.mark.parametrize("name", PROMPTS)
def test_our_prompt_is_the_templates(name: str) -> None:
    assert text_of(render(PROMPTS[name])) == template_says(PROMPTS[name])


def test_what_was_frozen_is_what_the_template_says() -> None:
    frozen = BESIDE / "rendered_turns.json"
    said = {name: template_says(prompt) for name, prompt in PROMPTS.items()}
    if os.environ.get("DESKAGENT_FREEZE"):
        frozen.write_text(json.dumps(said, indent=1, ensure_ascii=False) + "\n")
    assert json.loads(frozen.read_text()) == said
