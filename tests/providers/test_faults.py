"""Streams that break, servers that are busy, people who have enough: asked again or told, never half, never twice."""

from __future__ import annotations

import asyncio
from contextlib import aclosing

import pytest

from deskagent.messages import Said, Text
from deskagent.providers.base import Ask, ProviderError, Retrying, Stop, TextDelta, Trouble
from deskagent.providers.gather import Gather
from deskagent.providers.http import Timing
from deskagent.providers.retry import Patience, after

ASK = Ask("You code.", (), (Said((Text("Hello"),)),))
ID = "call_0123456789abcdef"
APIS = [("kimi", "chat"), ("anthropic", "messages"), ("responses", "responses")]
ONCE = Patience(tries=1)
each_api = pytest.mark.parametrize(("dialect", "api"), APIS)


async def asked(provider, gather):
    """What came, with the error that ended it or None."""
    found = []
    try:
        async with aclosing(provider.stream(ASK)) as deltas:
            async for delta in deltas:
                found.append(delta)
                gather.take(delta)
    except ProviderError as error:
        return found, error
    finally:
        await provider.close()
    return found, None


def pieces_of(standin, api, **more):
    turn = standin.Turn("Hm, ä €", "I look.", [(ID, "read", '{"path": "ü.py"}')], size=12, **more)
    return standin.frames(api, turn)


@each_api
def test_a_stream_cut_at_each_event_is_asked_again_or_told(dialect, api, standin, remote, run):
    frames = pieces_of(standin, api)

    async def go(cut):
        replies = [standin.Reply(frames[:cut], end="cut"), standin.Reply(frames)]
        async with standin.Standin(replies) as server:
            gather = Gather()
            found, error = await asked(remote(dialect, server.url), gather)
            return found, error, gather, len(server.requests)

    whole = run(go(len(frames)))[2].parts()
    again = told = 0
    for cut in range(len(frames)):
        found, error, gather, requests = run(go(cut))
        retried = any(isinstance(delta, Retrying) for delta in found)
        assert requests == 1 + retried
        if error is None:
            assert gather.parts() == whole and gather.stop is Stop.CALLS
            again += retried
        else:
            told += 1
            assert error.trouble is Trouble.NETWORK and gather.stop is Stop.CUT and not retried
            assert error.raw == b"".join(frames[:cut])
            # what came is the beginning of what would have come
            for part, full in zip(gather.parts(), whole, strict=False):
                assert type(part) is type(full)
                if isinstance(part, Text):
                    assert full.text.startswith(part.text)
    assert again and told


@each_api
def test_a_stall_is_told(dialect, api, standin, remote, run):
    frames = pieces_of(standin, api)

    async def go():
        async with standin.Standin(lambda request: standin.Reply(frames[:5], end="hang")) as server:
            provider = remote(dialect, server.url, timing=Timing(stall=0.2), patience=ONCE)
            return await asked(provider, Gather())

    _, error = run(go())
    assert error.trouble is Trouble.NETWORK and "0.2 seconds" in error.message


def test_a_server_that_never_answers_is_told(standin, remote, run):
    async def go():
        server = await asyncio.start_server(lambda reader, writer: asyncio.sleep(60), "127.0.0.1", 0)
        url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1"
        found = await asked(remote("kimi", url, timing=Timing(first=0.2), patience=ONCE), Gather())
        server.close()
        return found

    assert run(go())[1].trouble is Trouble.NETWORK


def test_an_answer_that_is_whole_needs_no_end_of_the_connection(standin, remote, run):
    frames = pieces_of(standin, "chat")[:-2]  # neither usage nor [DONE]

    async def go():
        async with standin.Standin([standin.Reply(frames, end="hang")]) as server:
            gather = Gather()
            _, error = await asked(remote("kimi", server.url, timing=Timing(grace=0.05)), gather)
            return gather, error

    gather, error = run(go())
    assert error is None and gather.stop is Stop.CALLS and len(gather.parts()) == 3


@pytest.mark.parametrize("status", [408, 409, 429, 500, 502, 503, 529])
def test_a_busy_server_is_asked_again(status, standin, remote, run):
    busy = standin.Reply.error(status, {"error": {"message": "later"}}, retry_after="0")

    async def go():
        async with standin.Standin([busy, busy, standin.Reply(pieces_of(standin, "chat"))]) as server:
            gather = Gather()
            found, error = await asked(remote("kimi", server.url), gather)
            return found, error, gather, [request.body for request in server.requests]

    found, error, gather, bodies = run(go())
    assert error is None and len(gather.parts()) == 3
    assert sum(isinstance(delta, Retrying) for delta in found) == 2
    assert len(bodies) == 3 and len(set(bodies)) == 1


def test_a_server_that_stays_busy_is_given_up(standin, remote, run):
    async def go():
        busy = standin.Reply.error(529, {"error": {"type": "overloaded_error", "message": "Overloaded"}})
        async with standin.Standin(lambda request: busy) as server:
            patience = Patience(tries=4, first=0.0, most=0.0)
            return *await asked(remote("anthropic", server.url, patience=patience), Gather()), len(
                server.requests
            )

    found, error, requests = run(go())
    assert error.trouble is Trouble.BUSY and requests == 4 and len(found) == 3


def test_a_server_that_wants_an_hour_is_given_up_at_once(standin, remote, run):
    async def go():
        busy = standin.Reply.error(429, {"error": {"message": "slow down"}}, retry_after="3600")
        async with standin.Standin([busy]) as server:
            return *await asked(remote("kimi", server.url), Gather()), len(server.requests)

    found, error, requests = run(go())
    assert error.trouble is Trouble.BUSY and found == [] and requests == 1


@each_api
def test_an_error_in_the_stream_is_asked_again_only_where_nothing_came(dialect, api, standin, remote, run):
    failure = (
        b'event: error\ndata: {"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}\n\n'
    )
    frames = pieces_of(standin, api)

    async def go(cut):
        replies = [standin.Reply([*frames[:cut], failure]), standin.Reply(frames)]
        async with standin.Standin(replies) as server:
            return await asked(remote(dialect, server.url), Gather())

    found, error = run(go(1))
    assert error is None and any(isinstance(delta, Retrying) for delta in found)
    _, error = run(go(6))
    assert error.trouble is Trouble.BUSY and "Overloaded" in error.message


@pytest.mark.parametrize("end", ["cut", "whole"])
@each_api
def test_half_of_a_json_and_half_of_a_character_are_no_answer(dialect, api, end, standin, remote, run):
    frames = pieces_of(standin, api)
    whole = b"".join(frames)
    for broken in (whole[: whole.index("€".encode()) + 1], whole[: whole.rindex(b'"path') - 3]):

        async def go(broken=broken):
            async with standin.Standin([standin.Reply([broken], end=end)]) as server:
                return await asked(remote(dialect, server.url, patience=ONCE), Gather())

        assert run(go())[1].trouble is Trouble.NETWORK


def test_what_is_no_json_is_told_with_its_beginning(standin, remote, run):
    async def go():
        async with standin.Standin([standin.Reply([b"data: <html>sorry</html>\n\n"])]) as server:
            return await asked(remote("kimi", server.url), Gather())

    error = run(go())[1]
    assert error.trouble is Trouble.BROKEN and "<html>sorry" in error.message


@each_api
def test_who_leaves_frees_the_server(dialect, api, standin, remote, run):
    frames = pieces_of(standin, api)

    async def go():
        async with standin.Standin([standin.Reply(frames[:8], end="hang")]) as server:
            provider = remote(dialect, server.url)
            async with aclosing(provider.stream(ASK)) as deltas:
                async for _ in deltas:
                    break
            await server.left.wait()
            await provider.close()
            return server.gone

    assert run(go()) == 1


def test_a_cancel_ends_a_pause_between_tries(standin, remote, run):
    async def go():
        async with standin.Standin(lambda request: standin.Reply.error(503, {})) as server:
            provider = remote("kimi", server.url, patience=Patience(first=3600, most=3600))
            waiting = asyncio.Event()

            async def work():
                async for delta in provider.stream(ASK):
                    if isinstance(delta, Retrying):
                        waiting.set()

            task = asyncio.create_task(work())
            await waiting.wait()
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            await provider.close()
            return len(server.requests)

    assert run(go()) == 1


def test_nobody_at_the_address_is_told(remote, run):
    async def go():
        server = await asyncio.start_server(lambda reader, writer: None, "127.0.0.1", 0)
        port = server.sockets[0].getsockname()[1]
        server.close()
        await server.wait_closed()
        return port, await asked(remote("kimi", f"http://127.0.0.1:{port}", patience=ONCE), Gather())

    port, (_, error) = run(go())
    assert (
        error.trouble is Trouble.NETWORK and f"127.0.0.1:{port}" in error.message and "running" in error.hint
    )


def test_one_provider_serves_one_loop_after_the_other(standin, remote, run):
    provider = None

    async def go():
        nonlocal provider
        frames = standin.frames("chat", standin.Turn(None, "Yes."))
        async with standin.Standin([standin.Reply(frames)]) as server:
            provider = provider or remote("kimi", server.url)
            provider._base = server.url
            return [delta async for delta in provider.stream(ASK) if isinstance(delta, TextDelta)]

    assert run(go()) == run(go()) == [TextDelta(0, "Yes.")]


def test_pauses_grow_and_heed_the_server():
    patience = Patience(tries=4, first=1.0, most=3.0, longest=60.0)
    assert [patience.pause(tried, None, 1.0) for tried in (1, 2, 3, 4)] == [1.0, 2.0, 3.0, None]
    assert patience.pause(1, None, 0.0) == 0.5
    assert patience.pause(1, 20.0, 1.0) == 20.0
    assert patience.pause(1, 61.0, 1.0) is None


def test_what_headers_ask_for():
    assert after({"retry-after": "7"}) == 7.0
    assert after({"retry-after-ms": "250", "retry-after": "7"}) == 0.25
    assert after({"retry-after": "Wed, 21 Oct 2015 07:28:00 GMT"}) == 0.0
    assert after({"retry-after": "soon"}) is None
    assert after({}) is None
