"""Where a model that runs on this machine comes from: a file, a folder, the hub."""

from __future__ import annotations

import sys
from dataclasses import dataclass, replace
from pathlib import Path

import click

from deskagent.cli.engine_extra import engine
from deskagent.cli.licence import agree, agree_again
from deskagent.providers import hub, kinds
from deskagent.providers.catalog import Entry
from deskagent.terminal.text import printable


@dataclass(frozen=True)
class Here:
    """What the person said of it. context, output: tokens, 0 for the usual. mmproj: a GGUF's projector. accepted: they
    agree to its licence. part: of a GGUF's name among those of a name of the hub."""

    context: int
    output: int
    mmproj: str
    tools: bool
    accepted: bool
    part: str

    def found(self, name: str, source: str, *, server: bool) -> tuple[str, Entry] | None:
        """Its name and entry; None for what is no model of this machine. source: where it comes from, "" where the name
        alone says it. server: the person named a kind of server. Errors: UsageError, TransientError."""
        path = Path(source or name).expanduser()
        if path.suffix == ".gguf" or (not source and path.is_file()) or (path / "config.json").is_file():
            usual, entry = self._local(path)
        elif (asked := hub.NAME.fullmatch(source or name)) and not server and (not source or ":" in source):
            usual, entry = self._from_hub(asked[1])
        else:
            return None
        return name if source else usual, replace(entry, output=self.output, tools=self.tools)

    def _local(self, path: Path, *, agreed: bool = False) -> tuple[str, Entry]:
        """agreed: to its licence, before its weights were there."""
        if not path.is_dir():
            return kinds.of_gguf(path, mmproj=self.mmproj, context=self.context)
        with engine("safetensors", "tokenizers"):
            found = kinds.of_checkpoint(path, context=self.context)
            if agreed:
                agree_again(path)
            else:
                agree(path, accepted=self.accepted)
        return found

    def _from_hub(self, name: str) -> tuple[str, Entry]:
        offered = hub.offer(name)
        files = offered.wanted(self.part)
        size = sum(file.size for file in files)
        _say(f"{name}: {files[0].name if len(files) == 1 else f'{len(files)} files'}, {size / 1e9:.2f} GB")
        _say(f"licence: {offered.licence or 'its card names none'}")
        if offered.papers:
            hub.bring(offered, offered.papers, lambda file, done: None)
            agree(offered.folder, accepted=self.accepted)
        first = hub.bring(offered, files, _progress)
        if sys.stderr.isatty():
            click.echo(err=True)
        _say("all of it is there, and each file is what the hub's list says")
        path = first if first.suffix == ".gguf" else offered.folder
        usual, entry = self._local(path, agreed=bool(offered.papers))
        return f"{usual.partition('/')[0]}/{name.rpartition('/')[2]}", entry


def _say(words: str) -> None:
    click.echo(printable(words, newlines=False), err=True)


def _progress(file: hub.File, done: int) -> None:
    if sys.stderr.isatty():
        words = printable(file.name, newlines=False)
        click.echo(f"\r{100 * done // max(file.size, 1):3} %  {words}\033[K", err=True, nl=False)
