"""A checkpoint as a provider: what it is asked, how its answers are read, and every end that its process may have."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

pytest.importorskip("torch")

from deskagent.messages import Answer, Author, Call, Result, Said, Text, Thinking, Used
from deskagent.paths import runtime_dir
from deskagent.providers.base import (
    Ask,
    Capabilities,
    Choice,
    ProviderError,
    Stop,
    Tool,
    Trouble,
    Usage,
)
from deskagent.providers.embedded import conversation
from deskagent.providers.embedded import provider as drawing
from deskagent.providers.embedded.provider import Embedded
from deskagent.providers.embedded.reads import Reads
from deskagent.providers.endpoint import Endpoint
from deskagent.providers.gather import Gather
from engine.prompt import FORMATS, Format, Image, encode
from engine.prompt.render import Marker
from engine.prompt.turns import Turn
from engine.tokenizer import Tokenizer

READ = Tool("read", "Reads a file.", {"type": "object", "properties": {"path": {"type": "string"}}})
START = Said((Text("Look at a.py"),))
ASK = Ask("You help.", (READ,), (START,), tier="max")
MODEL = "embedded/m"
USED = Used(Call("call_1", "read", '{"path": "a.py", "from": 3}'), Result.of("x = <|end_of_msg|>1"))
ANSWERS = {
    "text": (Text("Done: é."),),
    "thinking": (Thinking("I should look.", "think"), Text("So."), USED),
    "calls": (Text("Both:"), USED, Used(Call("call_2", "read", '{"path": "b"}'), Result.of(""))),
    "no arguments": (Used(Call("call_1", "read", "{}"), Result.of("x")),),
}
PROCESS = ("--kernels", "reference", "--idle", "60", "--threads", "1")


def endpoint(form: Format = FORMATS[0], **able: Any) -> Endpoint:
    capabilities = Capabilities(**{"context": 8192, "tiers": form.tiers, **able})
    return Endpoint.of("embedded", "m", capabilities, "embedded")


@pytest.fixture(params=FORMATS, ids=lambda form: form.name)
def form(request: pytest.FixtureRequest) -> Format:
    return request.param


@pytest.fixture
def tokenizer(form: Format) -> Tokenizer:
    """Of single bytes and all markers."""
    names = [marker.value for kind in (Marker, Turn) for marker in kind]
    words = {byte: bytes([byte]) for byte in range(256)}
    return Tokenizer(lambda text: list(text.encode()), words, {name: 256 + n for n, name in enumerate(names)})


def see(data: bytes) -> Image:
    raise AssertionError("there are no pictures")


def tokens_of(
    turns: tuple[Any, ...], form: Format, tokenizer: Tokenizer, tools: tuple[Tool, ...] = (READ,)
) -> list[int]:
    ask = Ask("You help.", tools, turns, tier="max")
    return encode(form.render(conversation.prompt(ask, endpoint(form), form, see)), tokenizer).tokens


def gathered(tokens: list[int], form: Format, tokenizer: Tokenizer, reason: str = "stop") -> Gather:
    prompt = conversation.prompt(ASK, endpoint(form), form, see)
    reads, gather = Reads(form.reader(tokenizer, prompt), frozenset()), Gather()
    for token in tokens:
        for delta in reads.take(token):
            gather.take(delta)
    for delta in reads.end(reason, 10, 4):
        gather.take(delta)
    return gather


@pytest.mark.parametrize("kind", ANSWERS)
def test_what_the_model_wrote_comes_back_to_it_token_by_token(
    kind: str, form: Format, tokenizer: Tokenizer
) -> None:
    """Otherwise nothing of a conversation is found in the cache."""
    asked = tokens_of((START,), form, tokenizer)
    whole = tokens_of((START, Answer(ANSWERS[kind], MODEL), Said((Text("Go on."),))), form, tokenizer)
    assert whole[: len(asked)] == asked
    end = tokenizer.marker(form.end.value)
    written = whole[len(asked) : whole.index(end, len(asked)) + 1]
    gather = gathered(written, form, tokenizer)
    parts = gather.parts()
    calls = [part for part in parts if isinstance(part, Call)]
    assert gather.stop is (Stop.CALLS if calls else Stop.END)
    assert gather.usage.output == len(written) == len(json.loads(gather.raw))
    results = iter([part.result for part in ANSWERS[kind] if isinstance(part, Used)])
    again = Answer(
        tuple(Used(part, next(results)) if isinstance(part, Call) else part for part in parts), MODEL
    )
    assert tokens_of((START, again, Said((Text("Go on."),))), form, tokenizer) == whole
    assert [json.loads(call.arguments) for call in calls] == [
        json.loads(part.call.arguments) for part in ANSWERS[kind] if isinstance(part, Used)
    ]
    assert len({call.id for call in calls}) == len(calls)


def test_a_call_that_was_cut_off_is_no_json(form: Format, tokenizer: Tokenizer) -> None:
    asked = tokens_of((START,), form, tokenizer)
    whole = tokens_of((START, Answer((USED,), MODEL)), form, tokenizer)
    written = whole[len(asked) : whole.index(tokenizer.marker(form.end.value), len(asked))]
    for cut in range(len(written) - 1, len(written) - 20, -1):
        gather = gathered(written[:cut], form, tokenizer, "length")
        assert gather.stop is Stop.LENGTH
        for part in gather.parts():
            if isinstance(part, Call) and part.arguments:
                try:
                    told = json.loads(part.arguments)
                except ValueError:
                    continue
                assert told == json.loads(USED.call.arguments), "whole, its section closed"


def test_foreign_thinking_and_foreign_text_stay_what_they_are() -> None:
    form = FORMATS[0]
    turns = (
        START,
        Answer((Thinking("secret", "reasoning"), Text("Hi")), "other/m"),
        Said((Text("note"),), Author.DESKAGENT),
    )
    ask = Ask("", (READ,), turns, tier="low", choice=Choice.REQUIRED, schema={"type": "object"})
    prompt = conversation.prompt(ask, endpoint(form), form, see)
    assert [message.role for message in prompt.messages] == ["user", "assistant", "user"]
    assert prompt.messages[1].thinking == "" and "<note>" in prompt.messages[2].content
    assert (prompt.tier, prompt.tool_choice, prompt.response) == ("low", "required", {"type": "object"})
    plain = conversation.prompt(ask, endpoint(FORMATS[1]), FORMATS[1], see)
    assert (plain.tier, plain.tool_choice, plain.response) == (None, None, None)


@pytest.fixture(scope="module")
def served(checkpoint: Path) -> Iterator[Callable[..., Embedded]]:
    """Providers of one process, in a home whose name is short enough for its socket. able: capabilities. Their answers
    are drawn with one seed: of all seeds 3 to 4 % have this model's answer end, or its thinking, with the first token.
    """
    with pytest.MonkeyPatch.context() as patch, tempfile.TemporaryDirectory(prefix="dsk") as home:
        patch.setenv("DESKAGENT_HOME", home)
        patch.setattr(drawing, "secrets", SimpleNamespace(randbits=lambda bits: 1))
        made: list[Embedded] = []

        def make(**able: Any) -> Embedded:
            made.append(Embedded(endpoint(**able), checkpoint, *PROCESS))
            return made[-1]

        yield make
        for pid in {one.pid for one in made if one.pid is not None}:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)


@pytest.fixture
def provider(served: Callable[..., Embedded]) -> Embedded:
    return served(output=12)


def said(provider: Embedded, ask: Ask = ASK) -> Gather:
    async def go() -> Gather:
        gather = Gather()
        async for delta in provider.stream(ask):
            gather.take(delta)
        return gather

    return asyncio.run(go())


def test_a_checkpoint_answers_from_its_cache_and_after_its_process_was_killed(provider: Embedded) -> None:
    first = said(provider)
    assert first.stop in (Stop.LENGTH, Stop.END) and 0 < first.usage.output <= 12
    assert any(isinstance(part, Thinking) for part in first.parts())
    turns = (*ASK.turns, Answer((Text("Hm."),), MODEL), Said((Text("And?"),)))
    second = said(provider, Ask(ASK.system, ASK.tools, turns, tier="max"))
    assert second.usage.cached >= first.usage.prompt - 3, "all but what opens the answer"
    pid = provider.pid
    assert pid is not None
    os.kill(pid, signal.SIGKILL)
    assert said(provider).usage.prompt == first.usage.prompt and provider.pid != pid


def test_tiers_end_its_thinking_and_a_schema_holds_its_answer(
    provider: Embedded, served: Callable[..., Embedded]
) -> None:
    low = said(provider, Ask("", (), (START,), tier="low"))
    assert low.usage.thinking == 0 and not any(isinstance(part, Thinking) for part in low.parts())
    pytest.importorskip("llguidance")
    schema = {"type": "object", "properties": {"ok": {"type": "boolean"}}, "required": ["ok"],
              "additionalProperties": False}  # fmt: skip
    held = served(grammar=True, tiers=("low",))
    found = said(held, Ask("", (), (START,), tier="low", schema=schema))
    assert isinstance(json.loads("".join(p.text for p in found.parts() if isinstance(p, Text)))["ok"], bool)


def test_a_cancelled_answer_frees_the_engine(served: Callable[..., Embedded]) -> None:
    from engine.process.client import status

    endless = served()

    async def go() -> None:
        answer = endless.stream(ASK)
        async for _ in answer:
            break
        await answer.aclose()
        (folder,) = runtime_dir().iterdir()
        while (state := status(folder)) is None or state.running:
            await asyncio.sleep(0.05)

    asyncio.run(asyncio.wait_for(go(), 60))


def test_a_conversation_that_is_too_long_is_told(provider: Embedded) -> None:
    with pytest.raises(ProviderError, match="8192") as caught:
        said(provider, Ask("x" * 9000, (), (START,)))
    assert caught.value.trouble is Trouble.CONTEXT and "/compact" in caught.value.hint


@pytest.mark.parametrize(
    ("change", "trouble", "words", "hint"),
    [
        ("licence", Trouble.NO_MODEL, "its-own", "--accept-license"),
        ("weights", Trouble.NO_MODEL, "safetensors", "model verify"),
        ("memory", Trouble.NO_MODEL, "memory|fit", "--context"),
        ("died", Trouble.NETWORK, "did not start|ended", "memory"),
    ],
)
def test_what_keeps_it_from_answering_is_told_with_a_way_out(
    checkpoint: Path, tmp_path: Path, run_dir: Path, change: str, trouble: Trouble, words: str, hint: str
) -> None:
    folder = tmp_path / "m"
    folder.mkdir()
    for file in checkpoint.iterdir():
        (folder / file.name).write_bytes(file.read_bytes())
    more = {"memory": ("--memory", "1000"), "died": ("--kernels",)}.get(change, PROCESS)
    if change == "licence":
        (folder / "README.md").write_text("---\nlicense: other\nlicense_name: its-own\n---\n")
    if change == "weights":
        weights = next(folder.glob("*.safetensors"))
        weights.write_bytes(weights.read_bytes()[:1000])
    with pytest.raises(ProviderError, match=words) as caught:
        said(Embedded(endpoint(FORMATS[0]), folder, *more))
    assert caught.value.trouble is trouble and hint in caught.value.hint


def test_asking_needs_no_torch_here(provider: Embedded) -> None:
    code = f"""
import asyncio, sys
from pathlib import Path
from deskagent.messages import Said, Text
from deskagent.providers.base import Ask, Capabilities
from deskagent.providers.embedded.provider import Embedded
from deskagent.providers.endpoint import Endpoint
made = Embedded(Endpoint.of("embedded", "m", Capabilities(8192, output=2), "embedded"), Path({str(provider._folder)!r}),
                *{PROCESS!r})
async def go():
    return [delta async for delta in made.stream(Ask("", (), (Said((Text("Hi"),)),)))]
print(len(asyncio.run(go())), "torch" in sys.modules, made.pid)
"""
    said(provider)
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    count, torch, pid = done.stdout.split()
    assert int(count) >= 2 and torch == "False" and int(pid) == provider.pid, "the same process"


def test_usage_is_told(form: Format, tokenizer: Tokenizer) -> None:
    assert gathered([65, 66], form, tokenizer).usage == Usage(10, 4, 2, 2 if form.tiers else 0)
