"""The pictures pane as a part of the app: pictures come from the desktop, are changed, and go with the next message."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import ParamSpec, TypeVar

from textual import on
from textual.app import ComposeResult
from textual.message import Message

from deskagent.agent.converse.talk import Talk
from deskagent.cli.pictures import blind
from deskagent.errors import UsageError
from deskagent.messages import Image
from deskagent.tools import picture
from deskagent.tools.base import ToolError
from deskagent.tools.picture import Edit
from ui.panes.base import Session
from ui.panes.joined import Joined
from ui.panes.pictures import PicturesPane, Row, Shown
from ui.panes.readers import PicturesReader
from ui.pictures import capture, clipboard
from ui.pictures import watching as folders
from ui.pictures.tray import Attached
from ui.pictures.watching import Watched
from ui.screens.picker import Choice, Picked, Picker
from ui.screens.picker import Row as Option

P = ParamSpec("P")
T = TypeVar("T")
_NEW = 20
"""Pictures of the watched folder that are offered at most, the latest ones."""


class Pictures(Joined):
    """Sends `Changed` when other pictures go with the next message."""

    class Changed(Message):
        pass

    class _Found(Message):
        def __init__(self, path: Path) -> None:
            super().__init__()
            self.path = path

    def __init__(self, reader: PicturesReader, session: Session) -> None:
        super().__init__(session)
        self.reader = reader
        self._new: list[Path] = []
        self._watched: Watched | None = None
        self._looking: tuple[str, str] | None = None
        self._model = ""

    def compose(self) -> ComposeResult:
        yield PicturesPane()

    @property
    def pane(self) -> PicturesPane:
        return self.query_one(PicturesPane)

    def on_unmount(self) -> None:
        if self._watched is not None:
            self._watched.close()

    def fresh(self) -> None:
        self._list()
        if self._model != self.talk.provider.name:
            self._model = self.talk.provider.name
            self.act(_blind, self.pane.tell)

    def _list(self, chosen: Row | None = None) -> None:
        tray, new, reader = self.session.tray.items, self._new, self.reader
        folder = self._watched.folder if self._watched else Path()
        rows = [
            *(Row("goes", item.name, item.name, "goes with your next message") for item in tray),
            *(Row("new", str(path), path.name, f"new in {folder}") for path in reversed(new)),
            *(
                Row("was", image.blob, image.origin or "picture", f"{image.width} × {image.height}, by {who}")
                for image, who in reversed(reader.images.values())
            ),
        ]
        self.pane.list(rows, chosen)
        if not rows:
            self._looking = None

    # where they come from

    def paste(self, otherwise: Callable[[], object] = lambda: None) -> None:
        """Attaches what is on the clipboard. otherwise: called where that is no picture."""
        project = self.session.project

        def made(talk: Talk) -> Attached | None:
            raw = _plainly(clipboard.pasted, project)
            return self._made(*raw, talk) if raw else None

        def then(item: Attached | None) -> None:
            if item is None:
                otherwise()
            else:
                self._add(item)

        self.act(made, then)

    def attach_file(self, path: Path) -> None:
        self.act(lambda talk: self._made(path.name, _plainly(picture.read, path.resolve()), talk), self._add)

    def _made(self, name: str, raw: bytes, talk: Talk) -> Attached:
        return Attached(name, raw, _plainly(picture.make, raw, name, talk.hands.context("picture")))

    def _add(self, item: Attached) -> None:
        tray = self.session.tray
        named = replace(item, name=tray.name(item.name))
        tray.items.append(named)
        self._other(named)

    def _other(self, item: Attached) -> None:
        self._looking = None
        self._list(Row("goes", item.name, ""))
        self._look(Row("goes", item.name, ""))
        self.post_message(self.Changed())

    @on(PicturesPane.Ask)
    def _asked(self, event: PicturesPane.Ask) -> None:
        event.stop()
        {
            "paste": self._paste,
            "capture": self._capture,
            "watch": self._watch,
            "attach": self._attach_asked,
            "remove": self._remove,
            "undo": self._undo,
        }[event.what](event.row)

    def _paste(self, row: Row | None) -> None:
        self.paste(lambda: self.notify("There is no picture on the clipboard.", markup=False))

    def _capture(self, row: Row | None) -> None:
        self.act(lambda talk: capture.targets(self.session.project), self._choose)

    def _choose(self, targets: list[capture.Target]) -> None:
        def chosen(picked: Picked | None) -> None:
            if picked is not None:
                target = targets[int(picked.value)]
                self.act(partial(self._captured, target), self._add)

        rows = [
            Option(str(n), each.name, f"{each.at[2]} × {each.at[3]}" if each.at and each.at[2] else "")
            for n, each in enumerate(targets)
        ]
        self.app.push_screen(Picker(Choice("Capture", rows)), chosen)

    def _captured(self, target: capture.Target, talk: Talk) -> Attached:
        return self._made("screen", capture.captured(target, self.session.project), talk)

    def _watch(self, row: Row | None) -> None:
        if self._watched is not None:
            self.notify(f"{self._watched.folder} isn't watched any more.", markup=False)
            self._watched.close()
            self._watched, self._new = None, []
            self._list()
            return

        def chosen(picked: Picked | None) -> None:
            if picked is not None:
                self.act(lambda talk: Watched(Path(picked.value), self._found), self._watching)

        rows = [Option(str(path), str(path)) for path in folders.choices(self.session.project)]
        self.app.push_screen(Picker(Choice("Watch a folder for new pictures", rows, ranked=False)), chosen)

    def _found(self, path: Path) -> None:
        self.post_message(self._Found(path))

    def _watching(self, watched: Watched) -> None:
        self._watched = watched
        self.notify(f"New pictures in {watched.folder} are offered here.", markup=False)

    @on(_Found)
    def _offer(self, event: _Found) -> None:
        event.stop()
        self._new = [*self._new, event.path][-_NEW:]
        self._list()
        self.notify(f"New picture: {event.path.name}. It can be attached in the pictures pane.", markup=False)

    # what is done with them

    def _attach_row(self, row: Row, talk: Talk) -> Attached:
        if row.kind == "new":
            return self._made(row.name, _plainly(picture.read, Path(row.key).resolve()), talk)
        return self._made(row.name, talk.recorder.journal.blobs.get(row.key), talk)

    def _attach_asked(self, row: Row | None) -> None:
        if row is None or row.kind == "goes":
            return

        def then(item: Attached) -> None:
            self._new = [path for path in self._new if str(path) != row.key]
            self._add(item)

        self.act(lambda talk: self._attach_row(row, talk), then)

    def _remove(self, row: Row | None) -> None:
        tray = self.session.tray
        if row is not None and row.kind == "goes":
            tray.items = [item for item in tray.items if item.name != row.key]
            self.post_message(self.Changed())
        elif row is not None and row.kind == "new":
            self._new = [path for path in self._new if str(path) != row.key]
        self._list()

    def _item(self, row: Row | None) -> Attached | None:
        if row is None or row.kind != "goes":
            return None
        return next((item for item in self.session.tray.items if item.name == row.key), None)

    def _undo(self, row: Row | None) -> None:
        if (item := self._item(row)) is not None and item.edits:
            self._edited(item, item.edits[:-1])

    @on(PicturesPane.Change)
    def _change(self, event: PicturesPane.Change) -> None:
        event.stop()
        if (item := self._item(event.row)) is not None:
            self._edited(item, (*item.edits, event.edit))

    def _edited(self, item: Attached, edits: tuple[Edit, ...]) -> None:
        def made(talk: Talk) -> Attached:
            context = talk.hands.context("picture")
            return replace(
                item, edits=edits, made=_plainly(picture.make, item.raw, item.name, context, None, edits)
            )

        def then(new: Attached) -> None:
            if self.session.tray.replace(item, new):
                self._other(new)

        self.act(made, then)

    @on(PicturesPane.Look)
    def _looked(self, event: PicturesPane.Look) -> None:
        event.stop()
        if self._looking != (event.row.kind, event.row.key):
            self._look(event.row)

    def _look(self, row: Row) -> None:
        self._looking = mark = row.kind, row.key
        if row.kind == "goes":
            item = self._item(row)
            self.pane.show(item and _shown(item))
        elif row.kind == "new":
            self.pane.show(None)
        else:
            image = self.reader.images[row.key][0]

            def then(data: bytes) -> None:
                if self._looking == mark:
                    self.pane.show(Shown(data, f"As it was sent: {_size(image.media, image, data)}."))

            self.act(lambda talk: talk.recorder.journal.blobs.get(row.key), then)


def _shown(item: Attached) -> Shown:
    made = item.made
    done = "".join(f", {edit.kind}" for edit in item.edits)
    words = f"Exactly this is sent: {_size(made.media, made, made.data)} ({made.note}{done})."
    return Shown(made.data, words, made.part, made.drawn)


def _size(media: str, size: Image | picture.Made, data: bytes) -> str:
    kind = media.removeprefix("image/").upper()
    return f"{kind}, {size.width} × {size.height}, {max(1, len(data) // 1000)} kB"


def _blind(talk: Talk) -> str:
    return "" if talk.provider.capabilities.images else blind(talk.provider.name)


def _plainly(work: Callable[P, T], *given: P.args, **named: P.kwargs) -> T:
    """`work` of the given, whose ToolErrors are errors for a person here."""
    try:
        return work(*given, **named)
    except ToolError as error:
        raise UsageError(str(error)) from error
