"""Which releases are compared."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.errors import ConfigError
from engine.train.edits import lock
from engine.train.edits.lock import Releases
from engine.train.edits.releases import MOST, chosen, rounds


def test_first_releases_of_each_series_up_to_the_locked_one():
    versions = [
        "2.1.0",
        "1.0",
        "1.0.1",
        "1.0.2",
        "1.0.3",
        "1.0.4",
        "1.1rc1",
        "1.1",
        "2.0",
        "1.0.10",
        "1-reupload",
        "2.2",
    ]
    assert chosen(versions, "2.1") == ["1.0", "1.0.1", "1.0.2", "1.0.3", "1.1", "2.0", "2.1.0"]
    assert chosen([f"{n}.0" for n in range(20)], "17.0") == [f"{n}.0" for n in range(18 - MOST, 18)]


@given(st.dictionaries(st.text("abc", min_size=1), st.lists(st.text("12."), max_size=5)), st.integers(1, 4))
def test_rounds_hold_every_release_once_and_a_package_at_most_once(several, size):
    made = list(rounds(several, size))
    assert sorted(each for some in made for each in some) == sorted(
        (n, v) for n, vs in several.items() for v in vs
    )
    assert all(len({name for name, _ in some}) == len(some) <= size for some in made)


def test_a_lock_comes_back_as_it_was_written(tmp_path):
    path = tmp_path / "edits.lock"
    assert lock.read(path) == {}
    known = [Releases("b", {"1.0": "aa", "1.1": "bb"}), Releases("a-c", {"2": "cc"})]
    lock.write(path, known)
    assert lock.read(path) == {each.name: each for each in known}
    path.write_text('[a]\n"1" = 3\n')
    with pytest.raises(ConfigError, match="sha256"):
        lock.read(path)
