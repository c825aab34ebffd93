"""What makes examples of documents. Each is a function of a document and a random number generator alone."""

from __future__ import annotations

from collections.abc import Callable
from random import Random

from engine.train.corpus.files import Document
from engine.train.example import Choice, Example

Maker = Callable[[Document, Random], Example | Choice | None]
"""None where nothing could be made of this document."""
