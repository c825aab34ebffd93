"""The picture on the clipboard. Tried on X11; Wayland's, macOS's and Windows' ways stand as their manuals have them."""

from __future__ import annotations

import base64
import os
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

from deskagent.errors import UsageError
from deskagent.tools import picture
from ui.pictures.desktop import Failed, ask, has
from ui.pictures.dropped import picture_file

_KINDS = ("image/png", "image/jpeg", "image/webp", "image/bmp", "image/tiff", "image/gif")
_FILES = "text/uri-list"
_WINDOWS = """
Add-Type -AssemblyName System.Windows.Forms, System.Drawing
$picture = [Windows.Forms.Clipboard]::GetImage()
if ($picture) {
  $stream = New-Object IO.MemoryStream
  $picture.Save($stream, [Drawing.Imaging.ImageFormat]::Png)
  [Convert]::ToBase64String($stream.ToArray())
}
"""


def pasted(project: Path) -> tuple[str, bytes] | None:
    """A name and the file's contents of the picture that was copied, or of the picture file; None where something else
    or nothing was. Blocks. Errors: UsageError where the clipboard can't be asked; ToolError of the file."""
    found = _way(os.environ, sys.platform)(project)
    if isinstance(found, Path):
        return found.name, picture.read(found)
    return ("pasted", found) if found and picture.is_picture(found[:32]) else None


Way = Callable[[Path], "bytes | Path | None"]


def _way(env: Mapping[str, str], platform: str) -> Way:
    if platform == "darwin":
        return _macos
    if platform == "win32" or "WSL_DISTRO_NAME" in env:
        return _windows
    if env.get("WAYLAND_DISPLAY"):
        return _wayland
    if env.get("DISPLAY"):
        return _x11
    raise UsageError(
        "There is no desktop here whose clipboard could be asked.",
        hint="Over ssh: save the picture as a file, then @file, or ssh -X.",
    )


def _x11(project: Path) -> bytes | Path | None:
    def get(kind: str) -> bytes:
        return ask("xclip", "-selection", "clipboard", "-out", "-target", kind, project=project)

    return _of(lambda: get("TARGETS"), get)


def _wayland(project: Path) -> bytes | Path | None:
    return _of(
        lambda: ask("wl-paste", "--list-types", project=project),
        lambda kind: ask("wl-paste", "--no-newline", "--type", kind, project=project),
    )


def _of(kinds: Callable[[], bytes], get: Callable[[str], bytes]) -> bytes | Path | None:
    """The first kind of picture that the clipboard offers, else the picture file that was copied."""
    try:
        offered = kinds().decode("utf-8", "replace").split()
    except Failed:
        return None  # both programs fail where nothing was copied
    if (kind := next((kind for kind in _KINDS if kind in offered), None)) is not None:
        return get(kind)
    return picture_file(get(_FILES).decode("utf-8", "replace")) if _FILES in offered else None


def _macos(project: Path) -> bytes | None:
    try:
        if has("pngpaste", project):
            return ask("pngpaste", "-", project=project)
        said = ask("osascript", "-e", "get the clipboard as «class PNGf»", project=project)
        return bytes.fromhex(said.decode().strip().removeprefix("«data PNGf").removesuffix("»"))
    except Failed:
        return None


def _windows(project: Path) -> bytes | None:
    try:
        said = ask("powershell.exe", "-NoProfile", "-STA", "-Command", _WINDOWS, project=project)
    except Failed:
        return None
    return base64.b64decode(said)
