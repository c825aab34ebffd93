"""Shows a picture file of the project to the model, or a part of it at full size."""

from __future__ import annotations

from pydantic import Field

from deskagent.messages import Outcome, Result, Text
from deskagent.tools import picture
from deskagent.tools.base import Arguments, Context, Tool, Wish
from deskagent.tools.place import place


class ImageArguments(Arguments):
    path: str = Field(description="relative to the project, or absolute")
    left: int = Field(0, ge=0, description="of a part to show, in pixels of the whole picture")
    top: int = Field(0, ge=0)
    width: int = Field(0, ge=0, description="of that part; 0 shows the whole picture")
    height: int = Field(0, ge=0)


class Image(Tool[ImageArguments]):
    name = "image"
    prompt = (
        "Shows a picture file: PNG, JPEG, GIF, WebP, BMP, TIFF. A large one is made smaller; to read what is small in "
        "it, show a part. SVG is text: read it."
    )
    arguments = ImageArguments
    looks = True

    def wish(self, arguments: ImageArguments, context: Context) -> Wish:
        return place(context.project, arguments.path).read

    def run(self, arguments: ImageArguments, context: Context) -> Result:
        found = place(context.project, arguments.path)
        part = (arguments.left, arguments.top, arguments.width, arguments.height)
        area = part if arguments.width and arguments.height else None
        image, note = picture.load(picture.read(found.path), found.name, context, area)
        return Result(Outcome.DONE, (Text(f"{found.name}: {note}"), image))
