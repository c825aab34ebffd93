def test_by_author(store):
    assert [post.title for post in store.by_author("ann")] == ["One"]


def test_numbers(store):
    assert store.get(2).title == "Two"
