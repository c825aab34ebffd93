"""Conversations to token ids, and answers back by token id, in the format of the checkpoint's vocabulary."""

from engine.prompt.encode import Encoded, encode
from engine.prompt.events import Called, Calling, Ended, Said
from engine.prompt.formats import FORMATS, Format, format_of
from engine.prompt.messages import Call, Image, Message, Prompt
from engine.prompt.read import Reader
from engine.prompt.render import Marker, render, thinking_end
from engine.prompt.segments import text_of

__all__ = [
    "FORMATS",
    "Call",
    "Called",
    "Calling",
    "Encoded",
    "Ended",
    "Format",
    "Image",
    "Marker",
    "Message",
    "Prompt",
    "Reader",
    "Said",
    "encode",
    "format_of",
    "render",
    "text_of",
    "thinking_end",
]
