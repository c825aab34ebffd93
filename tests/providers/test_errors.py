"""What servers say when they refuse becomes what a person can act on; keys go nowhere else."""

from __future__ import annotations

import pytest

from deskagent.errors import UsageError
from deskagent.messages import Said, Text
from deskagent.providers import errors
from deskagent.providers.base import Ask, ProviderError, Trouble
from deskagent.providers.http import base_url

ASK = Ask("", (), (Said((Text("Hello"),)),))


@pytest.mark.parametrize(
    ("status", "error", "trouble"),
    [
        (401, {"message": "Incorrect API key", "code": "invalid_api_key"}, Trouble.AUTH),
        (403, {"type": "permission_error", "message": "no"}, Trouble.AUTH),
        (429, {"message": "You exceeded your current quota", "code": "insufficient_quota"}, Trouble.AUTH),
        (429, {"message": "slow down", "type": "rate_limit_error"}, Trouble.BUSY),
        (529, {"type": "overloaded_error", "message": "Overloaded"}, Trouble.BUSY),
        (503, {"message": "Loading model", "type": "unavailable_error", "code": 503}, Trouble.BUSY),
        (404, {"message": "The model `m` does not exist", "code": "model_not_found"}, Trouble.NO_MODEL),
        (404, {"type": "not_found_error", "message": "model: m"}, Trouble.NO_MODEL),
        (400, {"message": "bad", "type": "invalid_request_error"}, Trouble.BAD_REQUEST),
        (422, [{"loc": ["body"], "msg": "field required"}], Trouble.BAD_REQUEST),
        (413, {"type": "request_too_large", "message": "too large"}, Trouble.CONTEXT),
        (400, "plain words", Trouble.BAD_REQUEST),
    ],
)
def test_the_kind_of_trouble(status, error, trouble, endpoint):
    import json

    found = errors.answered(status, json.dumps({"error": error}).encode(), endpoint("kimi", key="k"))
    assert found.trouble is trouble


@pytest.mark.parametrize(
    ("said", "asked", "limit"),
    [
        (
            "This model's maximum context length is 8192 tokens. However, you requested 9001 tokens (1 in the",
            "9001",
            "8192",
        ),
        (
            "This model's maximum context length is 8192 tokens. However, your messages resulted in 9001 tokens.",
            "9001",
            "8192",
        ),
        ("prompt is too long: 209000 tokens > 200000 maximum", "209000", "200000"),
        (
            "input length and `max_tokens` exceed context limit: 190000 + 32000 > 200000, decrease",
            "190000 + 32000",
            "200000",
        ),
        (
            "request (5000 tokens) exceeds the available context size (4096 tokens), try increasing it",
            "5000",
            "4096",
        ),
        (
            "Invalid request: Your request exceeded model token limit: 262144 (requested: 300000)",
            "300000",
            "262144",
        ),
        ("The input (123 tokens) is longer than the model's context length (100 tokens).", "123", "100"),
        ("Requested tokens (5000) exceed context window of 4096", "5000", "4096"),
    ],
)
def test_a_conversation_that_is_too_long_is_told_with_the_numbers(said, asked, limit, endpoint):
    import json

    found = errors.answered(400, json.dumps({"error": {"message": said}}).encode(), endpoint("kimi"))
    assert found.trouble is Trouble.CONTEXT
    assert f"{asked} tokens, and it takes {limit}" in found.message


def test_a_missing_key_is_told_apart_from_a_wrong_one(endpoint):
    body = b'{"error": {"message": "Unauthorized"}}'
    missing, wrong = (errors.answered(401, body, endpoint("kimi", key=key)) for key in ("", "k"))
    assert "there is none" in missing.message and "model add" in missing.hint
    assert "refuses the key" in wrong.message


@pytest.mark.parametrize(
    "body", [b"", b"\xff\xfe", b"[", b"[]", b"null", b'"x"', b"<html>", b"[" * 100_000, b'{"error": null}']
)
def test_a_body_of_any_kind_is_told(body, endpoint):
    assert errors.answered(400, body, endpoint("kimi")).trouble is Trouble.BAD_REQUEST


async def error_of(provider):
    with pytest.raises(ProviderError) as caught:
        async for _ in provider.stream(ASK):
            pass
    await provider.close()
    return caught.value


def test_an_unknown_model_is_told_with_those_that_there_are(standin, remote, run):
    def answer(request):
        if request.path.endswith("/models"):
            return standin.Reply.error(200, {"data": [{"id": "zeta"}, {"id": "m-1"}]})
        return standin.Reply.error(404, {"error": {"code": "model_not_found", "message": "no m"}})

    async def go():
        async with standin.Standin(answer) as server:
            return await error_of(remote("kimi", server.url))

    error = run(go())
    assert error.trouble is Trouble.NO_MODEL and error.hint == "It has: m-1, zeta."


def test_a_key_follows_no_redirect(standin, remote, run):
    async def go():
        async with standin.Standin(lambda request: standin.Reply((), 200)) as other:
            moved = standin.Reply((), 307, {"location": other.url + "/chat/completions"})
            async with standin.Standin([moved]) as server:
                error = await error_of(remote("kimi", server.url, key="secret"))
            return error, other.requests

    error, requests = run(go())
    assert error.trouble is Trouble.BAD_REQUEST and requests == [] and "base URL" in error.hint


def test_no_proxy_stands_before_this_machine(standin, remote, run, monkeypatch):
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    monkeypatch.delenv("NO_PROXY", raising=False)

    async def go():
        async with standin.Standin(
            [standin.Reply(standin.frames("chat", standin.Turn(None, "Yes.")))]
        ) as server:
            provider = remote("kimi", server.url)
            found = [delta async for delta in provider.stream(ASK)]
            await provider.close()
            return found

    assert run(go())


@pytest.mark.parametrize("key", ["se\ncret", "sé\u20accret"])
def test_a_key_that_no_header_can_hold_is_not_shown(key, standin, remote, run):
    async def go():
        async with standin.Standin([]) as server:
            return await error_of(remote("kimi", server.url, key=key))

    error = run(go())
    assert error.trouble is Trouble.BAD_REQUEST and "cret" not in str(error)


def test_a_success_that_is_an_error_and_one_in_one_piece_are_told(standin, remote, run):
    def go(body):
        async def work():
            async with standin.Standin([standin.Reply.error(200, body)]) as server:
                return await error_of(remote("kimi", server.url))

        return run(work())

    assert go({"error": {"message": "prompt is too long: 9 tokens > 8 maximum"}}).trouble is Trouble.CONTEXT
    assert go({"choices": [{"message": {"content": "Yes."}}]}).trouble is Trouble.BROKEN


@pytest.mark.parametrize(
    ("given", "found"),
    [
        ("https://api.x.ai/v1/", "https://api.x.ai/v1"),
        ("https://api.x.ai", "https://api.x.ai/v1"),
        ("api.x.ai/v1/chat/completions", "https://api.x.ai/v1"),
        ("localhost:8000", "http://localhost:8000/v1"),
        ("127.0.0.1:8000/v1/messages", "http://127.0.0.1:8000/v1"),
        ("[::1]:8000", "http://[::1]:8000/v1"),
        ("http://gpu.lan:8000/openai/v1", "http://gpu.lan:8000/openai/v1"),
        ("https://host/v1?key=1#x", "https://host/v1"),
    ],
)
def test_base_urls_are_put_right(given, found):
    assert base_url(given) == found


@pytest.mark.parametrize(
    "given", ["", "ftp://host", "https://", "https://key@host/v1", "http://host:port/v1"]
)
def test_what_is_no_base_url_is_refused(given):
    with pytest.raises(UsageError):
        base_url(given)


def test_a_key_never_goes_to_a_stranger_in_the_clear():
    with pytest.raises(UsageError, match="not encrypted"):
        base_url("http://api.example.com/v1", key=True)
    assert base_url("http://10.0.0.7:8000", key=True) and base_url("http://api.example.com/v1")
