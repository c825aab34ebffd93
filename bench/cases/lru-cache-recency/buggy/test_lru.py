import pytest

from lru import LRUCache


def test_stores_and_returns():
    cache = LRUCache(2)
    cache.put("a", 1)
    assert cache.get("a") == 1
    assert cache.get("b", 7) == 7


def test_oldest_goes_first():
    cache = LRUCache(2)
    for key in "abc":
        cache.put(key, key.upper())
    assert cache.keys() == ["b", "c"]


def test_reading_counts_as_use():
    cache = LRUCache(2)
    cache.put("a", 1)
    cache.put("b", 2)
    cache.get("a")
    cache.put("c", 3)
    assert "a" in cache
    assert "b" not in cache


def test_missing_key_does_not_disturb_order():
    cache = LRUCache(3)
    cache.put("a", 1)
    cache.put("b", 2)
    cache.get("zzz")
    assert cache.keys() == ["a", "b"]


def test_putting_again_counts_as_use():
    cache = LRUCache(2)
    cache.put("a", 1)
    cache.put("b", 2)
    cache.put("a", 3)
    cache.put("c", 4)
    assert cache.keys() == ["a", "c"]


def test_statistics():
    cache = LRUCache(1)
    cache.put("a", 1)
    cache.get("a")
    cache.get("b")
    assert (cache.hits, cache.misses) == (1, 1)


def test_capacity_is_checked():
    with pytest.raises(ValueError):
        LRUCache(0)
