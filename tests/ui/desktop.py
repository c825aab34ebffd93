"""Fixtures: an X server without a screen of glass, its clipboard, and a folder for pictures."""

from __future__ import annotations

import io
import os
import shutil
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import mss
import pytest
from PIL import Image


def png(colour: str = "teal", size: tuple[int, int] = (60, 40)) -> bytes:
    out = io.BytesIO()
    Image.new("RGB", size, colour).save(out, "PNG")
    return out.getvalue()


@pytest.fixture
def start() -> Iterator[Callable[..., subprocess.Popen[bytes]]]:
    """Starts programs that are ended with the test."""
    running: list[subprocess.Popen[bytes]] = []

    def started(*argv: str, **more) -> subprocess.Popen[bytes]:
        running.append(subprocess.Popen(argv, **more))
        return running[-1]

    yield started
    for process in reversed(running):
        process.kill()
        process.wait()


@pytest.fixture
def desktop(start, monkeypatch: pytest.MonkeyPatch) -> Callable[..., subprocess.Popen[bytes]]:
    """An X server of 640 × 480, whose display is the one of the environment. Gives `start`."""
    if shutil.which("Xvfb") is None:
        pytest.skip("Xvfb isn't installed")
    read, write = os.pipe()
    start(
        "Xvfb", "-displayfd", str(write), "-screen", "0", "640x480x24", "-nolisten", "tcp", "-noreset",
        pass_fds=(write,), stderr=subprocess.DEVNULL,
    )  # fmt: skip
    os.close(write)
    with os.fdopen(read) as told:
        number = told.readline().strip()
    assert number, "Xvfb didn't start"
    monkeypatch.setenv("DISPLAY", f":{number}")
    monkeypatch.delenv("WAYLAND_DISPLAY", raising=False)
    monkeypatch.delenv("WSL_DISTRO_NAME", raising=False)
    eventually(_answers)
    return start


def _answers() -> bool:
    try:
        with mss.MSS():
            return True
    except mss.ScreenShotError:
        return False


@pytest.fixture
def copied(desktop) -> Callable[[bytes, str], None]:
    """Puts something on the clipboard, as a kind of data."""
    if shutil.which("xclip") is None:
        pytest.skip("xclip isn't installed")

    def copy(data: bytes, kind: str) -> None:
        owner = desktop("xclip", "-quiet", "-selection", "clipboard", "-target", kind, stdin=subprocess.PIPE)
        owner.stdin.write(data)
        owner.stdin.close()
        asked = ("xclip", "-selection", "clipboard", "-out", "-target", "TARGETS")
        eventually(lambda: kind.encode() in subprocess.run(asked, capture_output=True).stdout)

    return copy


def eventually(what: Callable[[], object], seconds: float = 60.0) -> None:
    end = time.monotonic() + seconds
    while not what():
        assert time.monotonic() < end, "it never came"
        time.sleep(0.02)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "shots"
    made.mkdir()
    return made
