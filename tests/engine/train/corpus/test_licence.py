from __future__ import annotations

from importlib.metadata import PathDistribution

import pytest

from engine.train.corpus.licence import licence_of, permissive


@pytest.mark.parametrize(
    ("expression", "answer"),
    [
        ("MIT", True),
        ("mit", True),
        ("GPL-3.0-only", False),
        ("MIT OR GPL-2.0-only", True),
        ("MIT AND GPL-2.0-only", False),
        ("(MIT OR GPL-2.0-only) AND BSD-3-Clause", True),
        ("MIT AND (GPL-2.0-only OR MPL-2.0)", False),
        ("Apache-2.0 WITH LLVM-exception", True),
        ("GPL-2.0-only WITH Classpath-exception-2.0", False),
        ("MIT AND", False),
        ("(MIT", False),
        ("", False),
        ("MIT BSD", False),
    ],
)
def test_expressions(expression: str, answer: bool) -> None:
    assert permissive(expression) is answer


@pytest.mark.parametrize(
    ("lines", "answer"),
    [
        ("License-Expression: MIT", "MIT"),
        ("License-Expression: AGPL-3.0-only", None),
        ("Classifier: License :: OSI Approved :: BSD License", "BSD"),
        ("License: MIT\nClassifier: License :: OSI Approved :: GNU General Public License v3 (GPLv3)", None),
        (
            "Classifier: License :: OSI Approved :: MIT License\n"
            "Classifier: License :: OSI Approved :: Apache Software License",
            "MIT AND Apache-2.0",
        ),
        ("License: Apache 2.0", "Apache-2.0"),
        ("License: see the file", None),
        ("Summary: nothing said", None),
    ],
)
def test_metadata(tmp_path, lines: str, answer: str | None) -> None:
    (tmp_path / "METADATA").write_text(f"Metadata-Version: 2.4\nName: a\nVersion: 1\n{lines}\n")
    assert licence_of(PathDistribution(tmp_path)) == answer
