"""The person's models are read, kept and chosen; what is wrong is said with its place."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest

from deskagent.errors import UsageError
from deskagent.providers import catalog, keys
from deskagent.providers.catalog import Entry


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("DESKAGENT_HOME", str(tmp_path))
    return tmp_path


def put(text: str) -> None:
    catalog.file().parent.mkdir(parents=True, exist_ok=True)
    catalog.file().write_text(text, "utf-8")


def test_what_is_saved_is_read_back_and_the_first_is_the_default() -> None:
    one = Entry("vllm", "http://localhost:8000/v1", "Qwen/Qwen3", context=65536, tiers=("low", "high"))
    catalog.save("local/qwen", one)
    catalog.save("hosted/k3", Entry("kimi", context=1_000_000))
    found = catalog.read()
    assert found.entries["local/qwen"] == one and found.default == "local/qwen"
    catalog.use("hosted/k3")
    assert catalog.read().find() == ("hosted/k3", Entry("kimi", context=1_000_000))


def test_a_persons_comments_stay() -> None:
    put('# mine\n["a/b"]\n# fast\ndialect = "generic"\n')
    catalog.save("c/d", Entry("generic"))
    assert "# mine" in catalog.file().read_text() and "# fast" in catalog.file().read_text()
    assert list(catalog.read().entries) == ["a/b", "c/d"]


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("x", "can't be read"),
        ('default = "no/such"', "none of its models"),
        ('["a/b"]\n', "doesn't say its dialect"),
        ('["a/b"]\ndialect = "klingon"', "klingon"),
        ('["a/b"]\ndialect = "generic"\ncontext = "big"', "context of a/b"),
        ('["a/b"]\ndialect = "generic"\ncontext = 5', "too small"),
        ('["a/b"]\ndialect = "generic"\nsize = 5', "size"),
        ('["a/b"]\ndialect = "generic"\ntiers = ["medium"]', "medium"),
        ('["ab"]\ndialect = "generic"', "no name for a model"),
        ("a = 1", "no table"),
    ],
)
def test_what_is_wrong_in_the_file_is_said(text: str, says: str) -> None:
    put(text)
    with pytest.raises(UsageError, match=says):
        catalog.read()


def test_a_model_that_is_not_there_is_said_with_what_is() -> None:
    with pytest.raises(UsageError, match="No model is set up"):
        catalog.read().find()
    catalog.save("local/qwen", Entry("generic"))
    with pytest.raises(UsageError, match="local/qwen"):
        catalog.read().find("local/qwem")


def test_a_key_comes_from_the_environment_then_from_the_file(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(keys, "_keyring", lambda: None)
    assert keys.key("hosted") == ""
    where = keys.keep("hosted", "secret-1")
    assert stat.S_IMODE(Path(where).stat().st_mode) == 0o600
    assert keys.key("hosted") == "secret-1"
    monkeypatch.setenv("HOSTED_KEY", "secret-2")
    assert keys.key("hosted", "HOSTED_KEY") == "secret-2"
    catalog.save("hosted/k3", Entry("kimi", key="HOSTED_KEY"))
    assert "secret" not in catalog.file().read_text()
    endpoint = catalog.read().find()[1].endpoint("hosted/k3")
    assert endpoint.key == "secret-2" and "secret" not in repr(endpoint)


def test_keys_that_others_can_read_are_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(keys, "_keyring", lambda: None)
    Path(keys.keep("hosted", "x")).chmod(0o644)
    with pytest.raises(UsageError, match="chmod 600"):
        keys.key("hosted")
