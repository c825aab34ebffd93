"""The tagged prompt format of Kimi K3: conversations to token ids, and answers back by token id."""

from engine.prompt.encode import Encoded, encode
from engine.prompt.messages import Call, Image, Message, Prompt
from engine.prompt.read import Called, Calling, Ended, Reader, Said
from engine.prompt.render import Marker, render, text_of, thinking_end

__all__ = [
    "Call",
    "Called",
    "Calling",
    "Encoded",
    "Ended",
    "Image",
    "Marker",
    "Message",
    "Prompt",
    "Reader",
    "Said",
    "encode",
    "render",
    "text_of",
    "thinking_end",
]
