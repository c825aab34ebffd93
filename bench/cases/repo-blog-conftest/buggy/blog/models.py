"""Posts and comments."""

from dataclasses import dataclass, field
from datetime import datetime


@dataclass
class Comment:
    author: str
    text: str
    approved: bool = False


@dataclass
class Post:
    title: str
    author: str
    created: datetime
    edited: datetime | None = None
    published: bool = True
    comments: list = field(default_factory=list)

    @property
    def updated(self):
        """When it was last changed."""
        return self.edited or self.created

    def visible_comments(self):
        return [comment for comment in self.comments if comment.approved]
