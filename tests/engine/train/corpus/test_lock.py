from __future__ import annotations

import pytest

from engine.errors import ConfigError
from engine.train.corpus import lock
from engine.train.corpus.lock import Package

ONE = Package("attrs", "25.1", 'MIT "or so"', "train", "ab" * 32)
TWO = Package("zope", "1", "BSD", "held", "cd" * 32)


def test_what_is_written_is_read(tmp_path) -> None:
    path = tmp_path / "corpus.lock"
    lock.write(path, [TWO, ONE])
    assert lock.read(path) == [ONE, TWO]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[[package]]\nname = 1", "a package needs"),
        ("not toml", "no lock"),
        ('[[package]]\nname="a"\nversion="1"\nlicence="MIT"\nsha256=""\nuse="some"', "not train or held"),
    ],
)
def test_a_file_that_is_no_lock_is_refused(tmp_path, text: str, said: str) -> None:
    path = tmp_path / "corpus.lock"
    path.write_text(text)
    with pytest.raises(ConfigError, match=said):
        lock.read(path)


def test_a_package_stands_in_it_once(tmp_path) -> None:
    path = tmp_path / "corpus.lock"
    lock.write(path, [ONE, ONE])
    with pytest.raises(ConfigError, match="attrs is in it twice"):
        lock.read(path)
