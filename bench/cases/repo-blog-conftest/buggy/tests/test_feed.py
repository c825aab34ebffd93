from blog.feed import last_change, latest, render
from blog.store import Store


def titles(posts):
    return [post.title for post in posts]


def test_newest_first(store):
    assert titles(latest(store)) == ["Two", "One"]


def test_limit(store):
    assert titles(latest(store, 1)) == ["Two"]


def test_edited_post_moves_up(store, day):
    store.edit(1, "One again", day(9))
    assert titles(latest(store)) == ["One again", "Two"]


def test_last_change(store, day):
    store.edit(1, "One again", day(9))
    assert last_change(store) == day(9)


def test_last_change_of_nothing():
    assert last_change(Store()) is None


def test_render(store):
    assert render(store) == "2024-05-02 Two\n2024-05-01 One (1)"
