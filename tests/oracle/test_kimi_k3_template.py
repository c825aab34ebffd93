"""Our prompts against the public template of the format, as llama.cpp's sources carry it.

LLAMA_CPP_SOURCE names their folder. DESKAGENT_FREEZE=1 writes what the template says down for the other tests.
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

from engine.prompt import Call, Image, Message, Prompt, render, text_of  # noqa: E402

TEMPLATE = Path(os.environ.get("LLAMA_CPP_SOURCE", "")) / "models" / "templates" / "Kimi-K3.jinja"
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
    return module.PROMPTS


PROMPTS = _prompts()


def _call(call: Call) -> dict[str, Any]:
    return {"id": call.id, "function": {"name": call.name, "arguments": call.arguments}}


def _message(message: Message) -> dict[str, Any]:
    content: Any = message.content
    if not isinstance(content, str):
        content = [
            {"type": "image"} if isinstance(part, Image) else {"type": "text", "text": part}
            for part in content
        ]
    made: dict[str, Any] = {"role": message.role, "content": content}
    optional = {
        "name": message.name, "reasoning_content": message.thinking, "tool_call_id": message.call_id,
        "tools": list(message.tools), "tool_calls": [_call(call) for call in message.calls],
    }  # fmt: skip
    return made | {key: value for key, value in optional.items() if value}


def template_says(prompt: Prompt) -> str:
    def tojson(value, ensure_ascii=False, indent=None, separators=None, sort_keys=False):
        return json.dumps(
            value, ensure_ascii=ensure_ascii, indent=indent, separators=separators, sort_keys=sort_keys
        )

    def refuse(message: str):
        raise jinja2.TemplateError(message)

    environment = jinja2.Environment(
        trim_blocks=True, lstrip_blocks=True, extensions=["jinja2.ext.loopcontrols"]
    )
    environment.filters["tojson"] = tojson
    environment.globals["raise_exception"] = refuse
    wanted: dict[str, Any] = {"messages": [_message(message) for message in prompt.messages]}
    if prompt.tools:
        wanted["tools"] = prompt.tools
    wanted |= {"thinking": False} if prompt.tier is None else {"thinking_effort": prompt.tier}
    if prompt.tool_choice is not None:
        wanted["tool_choice"] = prompt.tool_choice
    if prompt.response == "json":
        wanted["response_format"] = {"type": "json_object"}
    elif prompt.response is not None:
        wanted["response_format"] = {"type": "json_schema", "json_schema": {"schema": prompt.response}}
    return environment.from_string(TEMPLATE.read_text()).render(add_generation_prompt=prompt.answer, **wanted)


@pytest.mark.parametrize("name", PROMPTS)
def test_our_prompt_is_the_templates(name: str) -> None:
    assert text_of(render(PROMPTS[name])) == template_says(PROMPTS[name])


def test_what_was_frozen_is_what_the_template_says() -> None:
    frozen = BESIDE / "rendered.json"
    said = {name: template_says(prompt) for name, prompt in PROMPTS.items()}
    if os.environ.get("DESKAGENT_FREEZE"):
        frozen.write_text(json.dumps(said, indent=1, ensure_ascii=False) + "\n")
    assert json.loads(frozen.read_text()) == said
