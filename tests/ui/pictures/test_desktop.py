"""Pictures from a real desktop: what was copied, what is on the screen, what comes into a folder."""

from __future__ import annotations

import io
import os
import shutil
import stat
import sys
from pathlib import Path

import pytest
from PIL import Image

from deskagent.errors import UsageError
from tests.ui.desktop import eventually, png
from ui.pictures import capture, clipboard
from ui.pictures.dropped import picture_file
from ui.pictures.watching import Watched


def test_a_copied_picture_is_found(copied, tmp_path: Path) -> None:
    copied(png(), "image/png")
    assert clipboard.pasted(tmp_path) == ("pasted", png())


def test_a_copied_file_is_found(copied, tmp_path: Path) -> None:
    shot = tmp_path / "a shot.png"
    shot.write_bytes(png("red"))
    copied(shot.as_uri().encode() + b"\r\n", "text/uri-list")
    assert clipboard.pasted(tmp_path) == ("a shot.png", png("red"))


@pytest.mark.parametrize(
    ("data", "kind"),
    [(b"words", "UTF8_STRING"), (b"no picture", "image/png"), (b"file:///gone", "text/uri-list")],
)
def test_what_is_no_picture_is_none(copied, tmp_path: Path, data: bytes, kind: str) -> None:
    copied(data, kind)
    assert clipboard.pasted(tmp_path) is None


def test_an_empty_clipboard_is_none(desktop, tmp_path: Path) -> None:
    if shutil.which("xclip") is None:
        pytest.skip("xclip isn't installed")
    assert clipboard.pasted(tmp_path) is None


def test_without_a_desktop_it_says_what_to_do(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in ("DISPLAY", "WAYLAND_DISPLAY", "WSL_DISTRO_NAME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(sys, "platform", "linux")
    with pytest.raises(UsageError, match="no desktop here"):
        clipboard.pasted(tmp_path)
    with pytest.raises(UsageError, match="can't be captured"):
        capture.targets(tmp_path)


def test_nothing_of_the_project_is_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    evil = tmp_path / "bin" / "xclip"
    evil.parent.mkdir()
    evil.write_text(f"#!/bin/sh\ntouch {tmp_path}/canary\n")
    evil.chmod(evil.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setenv("PATH", f"{evil.parent}{os.pathsep}/nowhere")
    monkeypatch.setenv("DISPLAY", ":99999")
    monkeypatch.delenv("WAYLAND_DISPLAY", raising=False)
    monkeypatch.delenv("WSL_DISTRO_NAME", raising=False)
    with pytest.raises(UsageError, match="isn't installed"):
        clipboard.pasted(tmp_path)
    assert not (tmp_path / "canary").exists()


def test_the_screen_and_a_window_are_captured(desktop, tmp_path: Path) -> None:
    for program in ("xmessage", "xwininfo"):
        if shutil.which(program) is None:
            pytest.skip(f"{program} isn't installed")
    desktop("xmessage", "-bg", "red", "-title", 'the "red" [b]one[/b]', "-geometry", "200x100+50+60", "x")
    eventually(lambda: [each for each in capture.targets(tmp_path) if each.window])
    whole, window, *_ = capture.targets(tmp_path)
    assert whole.at == (0, 0, 640, 480) and window.at == (50, 60, 200, 100)
    assert window.name == 'the "red" [b]one[/b]'
    eventually(lambda: shown(window, tmp_path).getpixel((190, 10)) == (255, 0, 0))
    assert shown(window, tmp_path).size == (200, 100) and shown(whole, tmp_path).size == (640, 480)
    assert shown(whole, tmp_path).getpixel((240, 70)) == (255, 0, 0)
    with pytest.raises(UsageError, match="isn't on the screen any more"):
        capture.captured(capture.Target("gone", (700, 0, 10, 10), True), tmp_path)


def shown(target: capture.Target, project: Path) -> Image.Image:
    return Image.open(io.BytesIO(capture.captured(target, project)))


def test_new_pictures_of_a_folder_are_found_once(folder: Path) -> None:
    (folder / "before.png").write_bytes(png())
    found: list[Path] = []
    watched = Watched(folder, found.append)
    (folder / "words.txt").write_text("no picture")
    (folder / ".part").write_bytes(png())
    (folder / ".part").rename(folder / "moved.png")
    (folder / "written.png").write_bytes(png())
    (folder / "written.png").write_bytes(png("red"))
    eventually(lambda: {"moved.png", "written.png"} <= {path.name for path in found})
    watched.close()
    assert [path.name for path in found].count("written.png") == 1
    assert {path.name for path in found} <= {".part", "moved.png", "written.png"}
    with pytest.raises(UsageError, match="no folder"):
        Watched(folder / "none", found.append)


@pytest.mark.parametrize(
    "written", ["{}", "'{}'", '"{}"', "{escaped}", "file://{quoted}", " {}\n"], ids=range(6)
)
def test_a_dropped_path_is_taken_as_terminals_write_it(tmp_path: Path, written: str) -> None:
    shot = tmp_path / "a (shot).png"
    shot.write_bytes(png())
    name = str(shot)
    escaped = name.replace(" ", "\\ ").replace("(", "\\(").replace(")", "\\)")
    assert picture_file(written.format(name, escaped=escaped, quoted=shot.as_uri()[7:])) == shot


@pytest.mark.parametrize(
    "text", ["", "words", "/nowhere.png", "a.png", "/\n/", "/\0", "file://", "'", "/etc/passwd"]
)
def test_other_text_is_no_dropped_picture(text: str) -> None:
    assert picture_file(text) is None
