"""The worker's process: what it says, and every way in which it may end."""

from __future__ import annotations

import asyncio
import os
import signal
import threading
from collections.abc import Callable

import pytest

from deskagent.messages import Call, Said, Text
from deskagent.providers.base import (
    Ask,
    Capabilities,
    ProviderError,
    Retrying,
    Stop,
    TextDelta,
    Trouble,
    Usage,
)
from deskagent.providers.endpoint import Endpoint
from deskagent.providers.gather import Gather
from deskagent.providers.gguf.child import Child
from deskagent.providers.gguf.provider import Gguf

ASK = Ask("You help.", (), (Said((Text("Hello"),)),))
ANSWER = """
say(**{"is": "ready", "context": 100})
while question := asked():
    if question["do"] != "ask": continue
    number = question["id"]
    say(**{"is": "prompt", "id": number, "tokens": 9, "cached": 4})
    for text in ["<think>hm", "</think>", "Yes: ", question["messages"][-1]["content"]]:
        say(**{"is": "text", "id": number, "text": text})
    say(**{"is": "end", "id": number, "stop": "end", "prompt": 9, "cached": 4, "output": 5, "thinking": 2})
"""


def provider(child: Child) -> Gguf:
    return Gguf(Endpoint.of("gguf", "m", Capabilities(100), "gguf"), child)


def said(child: Child, ask: Ask = ASK) -> Gather:
    async def go() -> Gather:
        gather = Gather()
        async for delta in provider(child).stream(ask):
            gather.take(delta)
        return gather

    return asyncio.run(go())


def test_an_answer_with_thinking_text_and_usage(scripted: Callable[..., Child]) -> None:
    child = scripted(ANSWER)
    for _ in range(2):  # two loops, one process
        gather = said(child)
        assert [part.text for part in gather.parts() if not isinstance(part, Call)] == ["hm", "Yes: Hello"]
        assert gather.usage == Usage(9, 4, 5, 2) and gather.stop is Stop.END
    first = child.pid
    assert first is not None
    os.kill(first, signal.SIGKILL)
    assert said(child).stop is Stop.END, "the next question starts it anew"
    assert child.pid != first


def test_a_worker_that_dies_before_a_word_is_asked_once_more(
    scripted: Callable[..., Child], tmp_path
) -> None:
    once = f"import pathlib\nflag = pathlib.Path({str(tmp_path / 'flag')!r})\nfirst = not flag.exists()\nflag.touch()\n"
    child = scripted(once + 'if first: say(**{"is": "ready"}); asked(); os.abort()\n' + ANSWER)

    async def go() -> list[object]:
        return [delta async for delta in provider(child).stream(ASK)]

    deltas = asyncio.run(go())
    assert sum(isinstance(delta, Retrying) for delta in deltas) == 1
    assert any(isinstance(delta, TextDelta) for delta in deltas)


def test_a_worker_that_dies_in_the_middle_is_an_error_that_says_so(scripted: Callable[..., Child]) -> None:
    child = scripted(
        'say(**{"is": "ready"})\nn = asked()["id"]\nsay(**{"is": "text", "id": n, "text": "He"})\n'
        'print("out of memory", file=sys.stderr, flush=True)\nos.abort()'
    )
    with pytest.raises(ProviderError, match="out of memory") as caught:
        said(child)
    assert caught.value.trouble is Trouble.NETWORK


@pytest.mark.parametrize(
    ("script", "trouble", "words"),
    [
        ('say(**{"is": "failed", "id": 0, "message": "No module named \'llama_cpp\'"})', Trouble.NO_MODEL, "loaded"),
        ('print("rubbish \\0", flush=True)\nasked()', Trouble.NETWORK, "process"),
        ('say(**{"is": "ready"})\nn = asked()["id"]\n'
         'say(**{"is": "failed", "id": n, "kind": "context", "message": "9 of 5"})', Trouble.CONTEXT, "9 of 5"),
    ],
)  # fmt: skip
def test_failures_are_told(scripted: Callable[..., Child], script: str, trouble: Trouble, words: str) -> None:
    with pytest.raises(ProviderError, match=words) as caught:
        said(scripted(script))
    assert caught.value.trouble is trouble
    assert "llama_cpp" not in script or "deskagent[gguf]" in caught.value.hint


def test_a_hanging_worker_is_ended(scripted: Callable[..., Child]) -> None:
    child = scripted(
        'say(**{"is": "ready"})\nsay(**{"is": "end", "id": asked()["id"], "stop": "end"})\ntime.sleep(600)'
    )
    said(child)
    child._silence = 0.5  # not before it has started, which may take longer
    with pytest.raises(ProviderError, match="said nothing"):
        list(child.ask({"messages": []}, threading.Event()))
    assert child.pid is None


@pytest.mark.parametrize("heeds", [True, False])
def test_a_cancelled_answer_ends_and_the_next_one_comes(scripted: Callable[..., Child], heeds: bool) -> None:
    stopping = 'say(**{"is": "end", "id": n, "stop": "stopped"})' if heeds else "time.sleep(600)"
    child = scripted(
        'say(**{"is": "ready"})\nn = asked()["id"]\nsay(**{"is": "text", "id": n, "text": "Once"})\n'
        f'assert asked()["do"] == "stop"\n{stopping}\nasked()',
        grace=0.3,
    )
    stop = threading.Event()
    found = []
    for message in child.ask({"messages": []}, stop):
        found.append(message["is"])
        stop.set()
    assert found == (["text", "end"] if heeds else ["text"])
    assert (child.pid is not None) is heeds
