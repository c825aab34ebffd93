"""Whose licence a checkpoint is under, by its card."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine.errors import CheckpointError, LicenceError
from engine.weights.card import Licence, check_agreed, fingerprint, licence_of


def card(folder: Path, text: str) -> Licence | None:
    (folder / "README.md").write_text(text)
    return licence_of(folder)


@pytest.mark.parametrize(
    "text",
    ["", "no front matter\nlicense: own\n", "---\nlicense: own\n", "---\ntags: [a]\n---\nlicense: own\n",
     "---\nlicense: mit\n---\n", "---\nlicense: Apache-2.0\n---\n", '---\nlicense: "bsd-3-clause"\n---\n'],
)  # fmt: skip
def test_no_licence_of_its_own(tmp_path: Path, text: str) -> None:
    assert card(tmp_path, text) is None


@pytest.mark.parametrize(
    ("front", "name", "link"),
    [
        ("license: other", "other", ""), ("license: 'llama3'", "llama3", ""),
        ("license: other\nlicense_name: kimi-k3\nlicense_link: LICENSE", "kimi-k3", "LICENSE"),
        ("license_name: modified-mit", "modified-mit", ""), ("\ntags:\n- x\nlicense:   own  \n", "own", ""),
    ],
)  # fmt: skip
def test_a_licence_of_its_own(tmp_path: Path, front: str, name: str, link: str) -> None:
    (tmp_path / "LICENSE").write_text("Do as we say.")
    assert card(tmp_path, f"\ufeff---\r\n{front}\n---\n# Model\n") == Licence(name, link, "Do as we say.")


def test_no_card_at_all(tmp_path: Path) -> None:
    assert licence_of(tmp_path) is None


def test_another_text_or_checkpoint_is_another_agreement(tmp_path: Path) -> None:
    one = Licence("own", "", "text")
    first = fingerprint(tmp_path, one)
    assert fingerprint(tmp_path, one) == first
    assert fingerprint(tmp_path, Licence("own", "", "text!")) != first
    (tmp_path / "config.json").write_text("{}")
    second = fingerprint(tmp_path, one)
    (tmp_path / "model.safetensors").write_bytes(b"x")
    assert len({first, second, fingerprint(tmp_path, one)}) == 3


def test_a_card_that_leads_out(tmp_path: Path) -> None:
    (tmp_path / "own").mkdir()
    (tmp_path / "secret").write_text("---\nlicense: own\n---\n")
    (tmp_path / "own" / "README.md").symlink_to(tmp_path / "secret")
    with pytest.raises(CheckpointError, match="leads out"):
        licence_of(tmp_path / "own")


def test_only_what_was_agreed_to_is_used(tmp_path: Path) -> None:
    check_agreed(tmp_path, None)
    licence = card(tmp_path, "---\nlicense: own\nlicense_link: https://x\n---\n")
    assert licence is not None
    for said in (None, "", "0" * 64):
        with pytest.raises(LicenceError, match=r"own \(https://x\), which has to be agreed to"):
            check_agreed(tmp_path, said)
    agreed = fingerprint(tmp_path, licence)
    check_agreed(tmp_path, agreed)
    (tmp_path / "LICENSE").write_text("Other words.")
    with pytest.raises(LicenceError):
        check_agreed(tmp_path, agreed)
