from tags import cloud, index, tags_of


def test_simple():
    assert tags_of("b, a") == ["a", "b"]


def test_hash_signs_and_case():
    assert tags_of("#News,WORLD ") == ["news", "world"]


def test_empty_parts():
    assert tags_of("a,, ,") == ["a"]
    assert tags_of("") == []


def test_repeated():
    assert tags_of("a, A, #a") == ["a"]


def test_index():
    assert index({"One": "a,b", "Two": "b"}) == {"a": ["One"], "b": ["One", "Two"]}


def test_index_of_repeated_tag():
    assert index({"One": "b, b"}) == {"b": ["One"]}


def test_cloud():
    assert cloud({"One": "a,b", "Two": "b", "Three": "c"}) == [("b", 2), ("a", 1), ("c", 1)]
