"""HTML as text: with trafilatura and without, of pages that are well made and of ones that aren't."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deskagent.tools.web import reading
from deskagent.tools.web.reading import plain


def test_blocks_headings_lists_code_tables_and_links() -> None:
    title, text = plain(
        "<title>A &amp; B</title><style>p{}</style><h2>One</h2><p>Some <b>bold</b>\n words<br>next</p>"
        "<ul><li>a<li>b</ul>"
        "<pre>x = 1\n  y</pre><table><tr><th>n</th><th>m</th></tr><tr><td>1<td>2</table><a href='/x'>link</a>"
        "<a href='javascript:x()'>no</a><img alt='a cat' src=x>"
    )
    assert title == "A & B"
    assert "## One\n\nSome bold words\nnext" in text and "A & B" not in text and "- a\n- b" in text
    assert "```\nx = 1\n  y\n```" in text and "n | m" in text and "1 | 2" in text
    assert "[link](/x)no[picture: a cat]" in text and "p{}" not in text


@pytest.mark.parametrize(
    ("html", "told"),
    [
        ("<p>a<script>b", "a"),
        ("<svg><script></svg></script>x</svg></body>y", "y"),
        ("</p></div>a", "a"),
        ("<a href=/x><a href=/y>z", "z"),
        ("<noscript><p>a</p></noscript>b", "b"),
        ("a<svg/>b", "ab"),
        ("", ""),
    ],
)
def test_broken_pages_are_read_as_far_as_they_go(html: str, told: str) -> None:
    assert plain(html)[1] == told


PIECES = [
    "<p>",
    "</p>",
    "<pre>",
    "</pre>",
    "<a href=/x>",
    "</a>",
    "<li>",
    "x y",
    "<svg>",
    "</svg>",
    "<",
    "<title>",
    "\n",
]


@given(st.lists(st.sampled_from(PIECES), max_size=30))
def test_any_page_can_be_read(pieces: list[str]) -> None:
    plain("".join(pieces))


@pytest.mark.parametrize("words", [[], ["plain"]])
def test_it_runs_alone(words: list[str]) -> None:
    html = f"<title>T</title><body><article><h1>H</h1><p>{'A sentence of the page. ' * 40}</p></article>"
    ran = subprocess.run(
        [sys.executable, "-I", str(Path(reading.__file__)), *words],
        input=html.encode(),
        capture_output=True,
        check=True,
    )
    head, _, text = ran.stdout.partition(b"\n")
    assert json.loads(head)["title"] == "T" and b"A sentence of the page." in text
    assert not words or json.loads(head)["by"] == ""
