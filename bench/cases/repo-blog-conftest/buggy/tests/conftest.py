from datetime import datetime

import pytest

from blog.models import Comment, Post
from blog.store import Store


@pytest.fixture
def day():
    return lambda number: datetime(2024, 5, number)


@pytest.fixture
def store(day):
    store = Store()
    store.add(Post("One", "ann", day(1), comments=[Comment("x", "hi", True), Comment("y", "spam")]))
    store.add(Post("Two", "bob", day(2)))
    store.add(Post("Draft", "ann", day(3), published=False))
    return store
