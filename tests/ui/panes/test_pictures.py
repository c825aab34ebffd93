"""Pictures go with a message as they were looked at: attached, changed, taken back, sent to models that see."""

from __future__ import annotations

import io
from pathlib import Path

import pytest
from PIL import Image
from textual.geometry import Offset

from deskagent.providers import catalog
from deskagent.providers.base import Capabilities
from tests.ui.conftest import Play, says
from tests.ui.test_screens import SIZES, same
from ui.log.items import Words
from ui.panes.picturing import Pictures
from ui.pictures.view import PictureView
from ui.theme import THEMES

SEES = Capabilities(context=1_000_000, images=True)


def shot(path: Path, size: tuple[int, int] = (400, 300)) -> Path:
    """Blue, with a red corner at the left above."""
    image = Image.new("RGB", size, "blue")
    image.paste((255, 0, 0), (0, 0, size[0] // 4, size[1] // 4))
    image.save(path)
    return path


def pixels(data: bytes) -> Image.Image:
    return Image.open(io.BytesIO(data)).convert("RGB")


def shown(on: Play):
    return next(iter(on.app.query(Pictures)), None)


async def pane(on: Play):
    """The pictures pane, in front."""
    on.app.side.show("pictures")
    on.app.screen.add_class("-side")
    found = await on.until(lambda: shown(on), "the pane")
    await on.pilot.pause()
    return found


async def attach(on: Play, path: Path):
    found = await pane(on)
    count = len(on.app.tray.items)
    found.attach_file(path)
    await on.until(lambda: len(on.app.tray.items) > count, "the picture")
    await on.shows("Exactly this is sent")
    await on.pilot.pause()
    found.pane.focus()
    return found


async def told(on: Play, text: str) -> None:
    await on.until(lambda: any(text in each.message for each in on.app._notifications), text)


def blobs(on: Play):
    assert on.app.conversation is not None
    return shown(on).talk.recorder.journal.blobs


def test_what_is_previewed_is_what_is_sent(play, project: Path) -> None:
    async def steps(on: Play) -> None:
        await attach(on, shot(project / "shot.png"))
        made = on.app.tray.items[0].made
        await on.shows("1 picture with it")
        on.app.composer.focus()
        await on.send("what is red?")
        await on.shows("A corner.")
        assert not on.app.tray.items and "with it, Ctrl+B shows" not in on.screen()
        image = next(iter(shown(on).reader.images.values()))[0]
        assert blobs(on).get(image.blob) == made.data and image.origin == "shot.png"
        assert blobs(on).get(image.original) == (project / "shot.png").read_bytes()
        await on.shows("400 × 300, by you")
        await on.shows("As it was sent: PNG, 400 × 300")

    provider = play([says("A corner.")], steps, able=SEES)
    assert "Picture shot.png (400 × 300 pixels):" in str(provider.asked[0].turns)


def test_nothing_of_what_was_painted_over_is_kept(
    play, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def steps(on: Play) -> None:
        found = await attach(on, shot(project / "shot.png"))
        view = found.query_one(PictureView)
        image = view.children[0]
        width, height = image.size
        await on.pilot.mouse_down(image, Offset(0, 0))
        await on.pilot.hover(image, Offset(width // 4, height // 4))
        await on.pilot.mouse_up(image, Offset(width // 4, height // 4))
        await on.press("x")
        await on.until(lambda: on.app.tray.items[0].edits, "the edit")
        made = on.app.tray.items[0].made
        colours = {colour for _, colour in pixels(made.data).getcolors() or []}
        assert colours == {(0, 0, 0), (0, 0, 255)}
        await on.shows("redact)")
        on.app.composer.focus()
        await on.send("see")
        await on.shows("Seen.")
        assert [blobs(on).get(name) for name in blobs(on).names() if blobs(on).get(name)[1:4] == b"PNG"] == [
            made.data
        ]

    play([says("Seen.")], steps, able=SEES)


def test_edits_by_keys_and_their_undo(play, project: Path) -> None:
    async def steps(on: Play) -> None:
        await attach(on, shot(project / "shot.png"))
        item = lambda: on.app.tray.items[0]  # noqa: E731
        before = item().made.data
        await on.press("b")
        await told(on, "Pick a part first")
        await on.press("right", *["shift+right"] * 6, *["shift+down"] * 3)
        for count, (key, kind) in enumerate([("b", "box"), ("w", "arrow"), ("c", "crop")], 1):
            if count > 1:
                shown(on).query_one(PictureView).focus()
                await on.press("right", *["shift+right"] * 6, *["shift+down"] * 3)
            await on.press(key)
            await on.until(lambda count=count: len(item().edits) == count, kind)
            await on.pilot.pause()
            assert item().edits[-1].kind == kind
        assert item().made.part[2] < 400 and "of them" in item().made.note
        for left in (2, 1, 0):
            await on.press("u")
            await on.until(lambda left=left: len(item().edits) == left, "undone")
            await on.pilot.pause()
        assert item().made.data == before
        await on.press("d")
        await on.shows("No pictures yet.")

    play([], steps, able=SEES)


def test_a_model_that_sees_none_is_said_with_those_that_could(play, project: Path) -> None:
    async def steps(on: Play) -> None:
        await attach(on, shot(project / "shot.png"))
        await on.shows("can't see pictures. These of your models can: eye/one")
        on.app.composer.focus()
        await on.send("see")
        await on.shows("I can't.")
        assert any(
            "only told that shot.png is there" in item.text for item in on.items() if hasattr(item, "text")
        )

    catalog.save("eye/one", catalog.Entry("generic", "http://localhost:1", "", 9000, images=True))
    play([says("I can't.")], steps, size=(250, 40))


def test_damaged_and_large_pictures_brick_nothing(play, project: Path) -> None:
    async def steps(on: Play) -> None:
        found = await pane(on)
        (project / "bad.png").write_bytes(shot(project / "a.png").read_bytes()[:200])
        found.attach_file(project / "bad.png")
        await told(on, "damaged")
        assert not on.app.tray.items
        await attach(on, shot(project / "large.png", (5000, 4000)))
        assert on.app.tray.items[0].made.width == 1568

    play([], steps, able=SEES)


def test_dropped_files_are_attached_and_other_text_is_pasted(play, project: Path) -> None:
    from textual.events import Paste

    async def steps(on: Play) -> None:
        on.app.composer.focus()
        on.app.post_message(Paste("words"))
        await on.until(lambda: on.app.composer.text)
        on.app.post_message(Paste(f"'{shot(project / 'a shot.png')}'"))
        await on.until(lambda: on.app.tray.items)
        assert on.app.composer.text == "words" and on.app.tray.items[0].name == "a shot.png"
        on.app.post_message(Paste(str(project / "a shot.png")))
        await on.until(lambda: len(on.app.tray.items) == 2)
        assert on.app.tray.items[1].name == "a shot.png 2"
        on.app.composer.put("")
        await on.send("/budget low")
        await on.shows("Effort: low")
        assert len(on.app.tray.items) == 2

    play([], steps, able=SEES)


def test_the_clipboard_is_pasted_by_ctrl_v(play, project: Path, copied) -> None:
    async def steps(on: Play) -> None:
        on.app.composer.focus()
        await on.press("ctrl+v")
        await on.until(lambda: on.app.tray.items, "the picture of the clipboard")
        assert on.app.tray.items[0].name == "pasted"
        assert on.app.tray.items[0].raw == (project / "shot.png").read_bytes()

    copied(shot(project / "shot.png").read_bytes(), "image/png")
    play([], steps, able=SEES)


def test_the_screen_is_captured_and_a_watched_folder_offers(
    play, project: Path, desktop, monkeypatch
) -> None:
    async def steps(on: Play) -> None:
        found = await pane(on)
        found.pane.focus()
        await on.press("s")
        await on.shows("640 × 480")
        await on.press("enter")
        await on.until(lambda: on.app.tray.items, "the screen")
        assert on.app.tray.items[0].made.whole == (640, 480)
        found.pane.focus()
        await on.press("f")
        await on.shows("Watch a folder")
        await on.press(*"project", "enter")
        await on.until(lambda: found._watched, "the watch")
        shot(project / "new one.png")
        await on.shows("new in")
        listed = found.pane.query_one("#pictures")
        listed.highlighted = 1
        found.pane.focus()
        await on.pilot.pause()
        await on.press("a")
        await on.until(lambda: len(on.app.tray.items) == 2, "the new one")
        assert on.app.tray.items[1].name == "new one.png"

    monkeypatch.setenv("HOME", str(project.parent / "nobody"))
    play([], steps, able=SEES)


@pytest.mark.parametrize("size", SIZES, ids=lambda size: f"{size[0]}x{size[1]}")
def test_the_pane_is_as_it_was_found_good(play, project: Path, size: tuple[int, int]) -> None:
    async def steps(on: Play) -> None:
        await attach(on, shot(project / "shot.png"))
        on.app.composer.focus()
        await on.send("what is red?")
        await on.until(lambda: on.items(Words))
        await on.idle()
        await attach(on, shot(project / "other.png", (300, 300)))
        on.app._notifications.clear()
        for theme in THEMES:
            on.app.theme = theme.name
            await on.pilot.pause()
            same(on, "pictures")

    play([says("A corner.")], steps, size=size, able=SEES)
