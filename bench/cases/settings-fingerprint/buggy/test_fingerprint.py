from fingerprint import Watcher, canonical, fingerprint


def test_compact_form():
    assert canonical({"a": [1, 2]}) == '{"a":[1,2]}'


def test_length():
    assert len(fingerprint({})) == 12
    assert len(fingerprint({}, 20)) == 20


def test_order_does_not_matter():
    assert fingerprint({"host": "x", "port": 1}) == fingerprint({"port": 1, "host": "x"})


def test_nested_order_does_not_matter():
    one = {"db": {"user": "u", "name": "n"}}
    two = {"db": {"name": "n", "user": "u"}}
    assert fingerprint(one) == fingerprint(two)


def test_list_order_matters():
    assert fingerprint({"a": [1, 2]}) != fingerprint({"a": [2, 1]})


def test_values_matter():
    assert fingerprint({"a": 1}) != fingerprint({"a": "1"})
    assert fingerprint({"a": 1, "b": 2}) != fingerprint({"a": 2, "b": 1})


def test_watcher():
    watcher = Watcher()
    assert watcher.changed("web", {"a": 1})
    assert not watcher.changed("web", {"a": 1})
    assert watcher.changed("web", {"a": 2})
    watcher.forget("web")
    assert watcher.changed("web", {"a": 2})
