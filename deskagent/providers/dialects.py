"""How kinds of servers differ, as data: the request and reply code asks a dialect, never a model's or server's name."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

Tiers = Mapping[str, str | int]

_SAME: Tiers = MappingProxyType({"low": "low", "high": "high", "max": "max"})
_TOKENS: Tiers = MappingProxyType({"low": 2048, "high": 16384, "max": 49152})
_NOTHING: Mapping[str, Any] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Dialect:
    """One kind of server.

    api: `chat`, `responses`, `messages`, `gguf` or `embedded`. base: its public address, "" where there is none.
    effort: the one place in a request, dots between keys, where effort stands; "" where it takes none. tiers: what our
    tiers are called there, or how many tokens they are. effort_with: what has to stand beside the effort.
    limit: the name of the most tokens of an answer.
    thinking: names of the field that thinking comes and goes in, the one that the server likes best first.
    thinking_filler: what that field says in an answer with calls that came without thinking; None leaves it out.
    think_tags: markers of thinking that the server leaves in the text, where it does.
    empty: what stands for the text of an answer that has only calls: None is null, "" is empty, "omit" leaves it out.
    choices: the values of tool_choice that it heeds, beside the default.
    id_pattern: what a call's id may be; others are replaced by a digest of theirs. numbered: it wants ids to be
    `functions.NAME:INDEX`, counted over the conversation.
    result_images: a tool's result may hold pictures. plain_schemas: it takes only simple JSON schemas.
    session: the field in which a conversation's name helps it to find its cache. cache: what is added so that it keeps
    one. alternate: its templates refuse two messages of the same role in a row.
    auth: the header that takes the key. headers: sent always. extra: sent in every request. edits: the form of edits
    (see `base.EDITS`) that the models there do best, where the person's catalogue doesn't say.
    """

    api: str = "chat"
    base: str = ""
    effort: str = ""
    tiers: Tiers = field(default_factory=lambda: _SAME)
    effort_with: Mapping[str, Any] = field(default_factory=lambda: _NOTHING)
    limit: str = "max_tokens"
    thinking: tuple[str, ...] = ("reasoning_content", "reasoning")
    thinking_filler: str | None = None
    think_tags: tuple[str, str] | None = None
    empty: str | None = "omit"
    choices: frozenset[str] = frozenset({"none", "required"})
    id_pattern: str = "[A-Za-z0-9_-]{1,64}"
    numbered: bool = False
    result_images: bool = False
    plain_schemas: bool = False
    session: str = ""
    cache: Mapping[str, Any] = field(default_factory=lambda: _NOTHING)
    alternate: bool = False
    auth: str = "authorization"
    headers: Mapping[str, str] = field(default_factory=lambda: _NOTHING)
    extra: Mapping[str, Any] = field(default_factory=lambda: _NOTHING)
    edits: str = "exact"


_THINK = ("<think>", "</think>")
_XHIGH: Tiers = MappingProxyType({"low": "low", "high": "high", "max": "xhigh"})
_ANTHROPIC: Mapping[str, Any] = {
    "api": "messages",
    "limit": "max_tokens",
    "thinking": ("thinking",),
    "choices": frozenset({"none", "required"}),
    "result_images": True,
    "auth": "x-api-key",
    "headers": {"anthropic-version": "2023-06-01"},
}

DIALECTS: Mapping[str, Dialect] = MappingProxyType(
    {
        "openai": Dialect(
            base="https://api.openai.com/v1",
            effort="reasoning_effort",
            tiers=_XHIGH,
            limit="max_completion_tokens",
            thinking=(),  # it neither shows nor takes any in this API
            empty=None,
            id_pattern="[A-Za-z0-9_-]{1,40}",
            session="prompt_cache_key",
            edits="patch",
        ),
        "responses": Dialect(
            api="responses",
            base="https://api.openai.com/v1",
            effort="reasoning.effort",
            tiers=_XHIGH,
            effort_with={"reasoning": {"summary": "auto"}},
            limit="max_output_tokens",
            result_images=True,
            session="prompt_cache_key",
            extra={"store": False, "include": ["reasoning.encrypted_content"]},
            edits="patch",
        ),
        "anthropic": Dialect(
            **_ANTHROPIC,
            base="https://api.anthropic.com/v1",
            effort="output_config.effort",
            effort_with={"thinking": {"type": "adaptive", "display": "summarized"}},
            cache={"cache_control": {"type": "ephemeral"}},
        ),
        "anthropic-budget": Dialect(  # models that take a number of tokens, and servers that copy them
            **_ANTHROPIC,
            base="https://api.anthropic.com/v1",
            effort="thinking.budget_tokens",
            tiers=_TOKENS,
            effort_with={"thinking": {"type": "enabled"}},
            cache={"cache_control": {"type": "ephemeral"}},
        ),
        "kimi": Dialect(  # K3, and K2.5 and later
            base="https://api.moonshot.ai/v1",
            effort="reasoning_effort",
            limit="max_completion_tokens",
            thinking_filler=" ",  # an empty one counts as missing with some models
            plain_schemas=True,
            session="prompt_cache_key",
        ),
        "kimi-k2": Dialect(
            base="https://api.moonshot.ai/v1", thinking_filler=" ", numbered=True, plain_schemas=True
        ),
        "vllm": Dialect(
            effort="reasoning_effort", thinking=("reasoning", "reasoning_content"), think_tags=_THINK
        ),
        "sglang": Dialect(effort="reasoning_effort", think_tags=_THINK),
        "tokenspeed": Dialect(effort="reasoning_effort", think_tags=_THINK),
        "thinking-budget": Dialect(effort="thinking_budget", tiers=_TOKENS, think_tags=_THINK),
        "thinking-tier": Dialect(effort="thinking_budget", think_tags=_THINK),
        "llama.cpp": Dialect(
            effort="thinking_budget_tokens", tiers=_TOKENS, think_tags=_THINK, empty="", alternate=True
        ),
        "llama.cpp-tier": Dialect(  # models that know tiers by name, K3 among them
            effort="chat_template_kwargs.reasoning_effort", think_tags=_THINK, empty="", alternate=True
        ),
        "gguf": Dialect(  # no server, but llama.cpp in a process of ours
            api="gguf",
            effort="think",
            tiers=MappingProxyType({"low": 1024, "high": 8192, "max": 32768}),
            think_tags=_THINK,
            empty="",
            alternate=True,
        ),
        "embedded": Dialect(
            api="embedded", effort="tier"
        ),  # no server, but our engine in a process of its own
        "openrouter": Dialect(
            base="https://openrouter.ai/api/v1",
            effort="reasoning.effort",
            tiers=_XHIGH,
            thinking=("reasoning", "reasoning_content"),
            thinking_filler="",
        ),
        "generic": Dialect(effort="reasoning_effort", think_tags=_THINK, empty=""),
    }
)
