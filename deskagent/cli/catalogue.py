"""`deskagent model list|add|use|check`: the models that `run` and `chat` may use."""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from deskagent.errors import UsageError
from deskagent.terminal.text import printable

if TYPE_CHECKING:
    from deskagent.providers.base import Provider
    from deskagent.providers.catalog import Entry

_CONTEXT = 32768
"""Tokens, where nobody says."""


@click.command("list")
@click.option("--json", "as_json", is_flag=True, help="Print a JSON object.")
def list_(as_json: bool) -> None:
    """List your models; the one with a star is used where none is named."""
    from deskagent.providers import catalog

    found = catalog.read()
    if as_json:
        rows = {
            name: {"dialect": e.dialect, "base": e.base or e.file, "context": e.context, "size": _size(e)}
            for name, e in found.entries.items()
        }
        click.echo(json.dumps({"default": found.default, "models": rows}, indent=1))
        return
    for name, entry in found.entries.items():
        mark = "*" if name == found.default else " "
        click.echo(
            printable(
                f"{mark} {name:<32} {entry.dialect:<16} {entry.context:>9}  {_able(entry):<22} "
                f"{entry.base or entry.file}",
                newlines=False,
            )
        )
    if not found.entries:
        click.echo("No model is set up. Add one: deskagent model add NAME URL")


def _size(entry: Entry) -> int:
    """Bytes of its file, or its folder's weights; 0 for a server's model, and for a file that is gone."""
    if not entry.file:
        return 0
    file = Path(entry.file)
    try:
        return sum(part.stat().st_size for part in (file.glob("*.safetensors") if file.is_dir() else [file]))
    except OSError:
        return 0


def _able(entry: Entry) -> str:
    size = _size(entry)
    able = (("tools", entry.tools), ("images", entry.images), ("thinks", bool(entry.tiers)))
    return ", ".join([*([f"{size / 1e9:.1f} GB"] if size else []), *(name for name, has in able if has)])


@click.command()
@click.argument("name")
@click.argument("url", default="")
@click.option("--dialect", help="What kind of server it is, see below. Default: generic.")
@click.option(
    "--model", "model_", default="", metavar="NAME", help="As the server names it. Default: behind the /."
)
@click.option("--context", type=click.IntRange(1024), help="Tokens in all; 32768 else.")
@click.option("--output", type=click.IntRange(0), default=0, help="Tokens of an answer at most; 0: no limit.")
@click.option(
    "--file", "part", default="", metavar="PART", help="Which of the hub's GGUFs, by a part of its name."
)
@click.option("--mmproj", default="", metavar="FILE", help="A GGUF's projector, so that it sees pictures.")
@click.option(
    "--key-env", default="", metavar="VARIABLE", help="The environment variable that holds its key."
)
@click.option("--key", is_flag=True, help="Ask for its key, and keep it in the keyring or a file of yours.")
@click.option("--images", is_flag=True, help="It sees pictures.")
@click.option("--no-tools", is_flag=True, help="It writes no tool calls.")
@click.option("--tiers", default="", metavar="low,high,max", help="Thinking tiers that it tells apart.")
@click.option(
    "--accept-license",
    is_flag=True,
    help="Agree to the licence that a model is under, if it has one of its own.",
)
@click.option(
    "--price-in", type=click.FloatRange(0), default=0.0, help="US dollars for a million tokens of a prompt."
)
@click.option(
    "--price-cached", type=click.FloatRange(0), default=0.0, help="Of those in its cache; 0: as the others."
)
@click.option("--price-out", type=click.FloatRange(0), default=0.0, help="Of an answer, thinking included.")
@click.option("--default", "default", is_flag=True, help="Use it where none is named.")
def add(
    name: str,
    url: str,
    dialect: str | None,
    model_: str,
    context: int | None,
    output: int,
    part: str,
    mmproj: str,
    key_env: str,
    key: bool,
    images: bool,
    no_tools: bool,
    tiers: str,
    accept_license: bool,
    price_in: float,
    price_cached: float,
    price_out: float,
    default: bool,
) -> None:
    """Add a model: a server's, a file's, a checkpoint's, or one of the Hugging Face hub.

    \b
    deskagent model add PROVIDER/MODEL URL      a server's
    deskagent model add [NAME] FILE.gguf        runs here, by llama.cpp: pip install 'deskagent[gguf]'
    deskagent model add [NAME] FOLDER           a checkpoint of Kimi's architecture, by deskagent's own engine:
                                                pip install 'deskagent[engine]'
    deskagent model add [NAME] hf:OWNER/MODEL   brought from the hub: a GGUF, or such a checkpoint. Stopped at any
                                                point, the same command goes on where it was.

    URL is the base of an OpenAI- or Anthropic-compatible API, such as http://localhost:8000/v1; without one, the
    dialect's own. Dialects: openai, responses, anthropic, anthropic-budget, kimi, kimi-k2, vllm, sglang, tokenspeed,
    llama.cpp, openrouter, generic.
    """
    from deskagent.cli import adding
    from deskagent.providers import catalog, keys, kinds
    from deskagent.providers.catalog import Entry

    here = adding.Here(context or 0, output, mmproj, tools=not no_tools, accepted=accept_license, part=part)
    if (found := here.found(name, url, server=dialect is not None)) is not None:
        _kept(*found, default=default)
        return
    entry = Entry(
        dialect or "generic",
        url,
        model_,
        context or _CONTEXT,
        output,
        key=key_env,
        tools=not no_tools,
        images=images,
        tiers=tuple(tier.strip() for tier in tiers.split(",") if tier.strip()),
        prompt=price_in,
        cached=price_cached,
        written=price_out,
    )
    catalog.check(name, entry)
    kinds.made(name, entry)  # an address that can't be is said before anything is kept
    if key:
        where = keys.keep(name.partition("/")[0], click.prompt("Key", hide_input=True, err=True))
        click.echo(f"The key is kept in {where}.")
    _kept(name, entry, default=default)


def _kept(name: str, entry: Entry, *, default: bool) -> None:
    from deskagent.providers import catalog

    catalog.save(name, entry, default=default)
    click.echo(f"{name} is in {catalog.file()}. Try it: deskagent model check {name}")


@click.command()
@click.argument("name")
def use(name: str) -> None:
    """Use a model where none is named."""
    from deskagent.providers import catalog

    catalog.use(name)
    click.echo(f"{name} is used where none is named.")


@click.command()
@click.argument("name", default="")
def check(name: str) -> int:
    """Ask a model for a word and for a call of a tool, and say what came."""
    from deskagent.cli.models import opened
    from deskagent.providers.base import ProviderError

    provider, _ = opened(name)
    click.echo(f"{provider.name}: {provider.capabilities.context} tokens of context")
    try:
        return asyncio.run(_checked(provider))
    except ProviderError as error:
        raise UsageError(error.message, hint=error.hint) from error


async def _checked(provider: Provider) -> int:
    from deskagent.messages import Call, Said, Text, Thinking
    from deskagent.providers.base import Ask, Tool
    from deskagent.providers.gather import Gather

    tool = Tool(
        "add",
        "Adds two numbers.",
        {
            "type": "object",
            "properties": {"a": {"type": "number"}, "b": {"type": "number"}},
            "required": ["a", "b"],
        },
    )
    word = Ask("You answer in one word.", (), (Said((Text("Say: ready"),)),), tier="low", most=2000)
    call = replace(
        word, system="You use tools.", tools=(tool,), turns=(Said((Text("What is 2 + 3? Use add."),)),)
    )
    good = True
    for what, ask in (("an answer", word), ("a call", call if provider.capabilities.tools else None)):
        if ask is None:
            continue
        gather = Gather()
        async for delta in provider.stream(ask):
            gather.take(delta)
        parts = gather.parts()
        text = "".join(part.text for part in parts if isinstance(part, Text)).strip()
        calls = [f"{part.name} {part.arguments}" for part in parts if isinstance(part, Call)]
        thought = sum(len(part.text) for part in parts if isinstance(part, Thinking))
        came = bool(calls) if what == "a call" else bool(text)
        good = good and came
        told = "; ".join(calls) or text
        usage = gather.usage
        click.echo(
            printable(
                f"{'✓' if came else '✗'} {what}: {told[:200]}  ({usage.prompt} + {usage.output} tokens, {thought} "
                f"characters of thinking)",
                newlines=False,
            )
        )
    await provider.close()
    if not good:
        click.echo("A server of local models needs its tool parser switched on, see its manual.", err=True)
    return 0 if good else 1
