"""Runs apart from us, on the standard library, with trafilatura if that is there. On stdin HTML; on stdout a line of
JSON, {"title": …, "by": …}, then the page's text as Markdown. The page is hostile until proved otherwise: what parses
it may take for ever, or be broken by it.

`python -I reading.py`; with the word `plain` behind it trafilatura isn't tried.
"""

import json
import os
import re
import sys
from html.parser import HTMLParser

_SKIPPED = {
    "script",
    "style",
    "noscript",
    "template",
    "svg",
    "iframe",
    "object",
    "head",
    "select",
    "button",
    "dialog",
}
_BLOCKS = {
    "address", "article", "aside", "blockquote", "body", "dd", "details", "div", "dl", "dt", "fieldset", "figcaption",
    "figure", "footer", "form", "header", "hr", "html", "main", "nav", "ol", "p", "section", "summary", "table", "tr",
    "ul", "li", "pre", "h1", "h2", "h3", "h4", "h5", "h6", "br", "caption",
}  # fmt: skip
_VOID = {
    "br",
    "hr",
    "img",
    "input",
    "meta",
    "link",
    "wbr",
    "source",
    "col",
    "area",
    "base",
    "embed",
    "track",
    "param",
}
_LITTLE = 500
"""Characters: of a page that has more text than that, one who finds less has found the wrong part."""


class Page(HTMLParser):
    """The text of a page: blocks on lines of their own, headings, lists, code and links as Markdown has them."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.title = ""
        self._lines: list[str] = []
        self._line = ""
        self._skipped: list[str] = []
        self._pre = 0
        self._in_title = False
        self._links: list[tuple[str, int]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag == "title" and not self.title:
            self._in_title = True
        if self._skipped:
            if tag == self._skipped[-1]:
                self._skipped.append(tag)
            return
        if tag in _SKIPPED:
            self._skipped.append(tag)
            return
        if tag in _BLOCKS:
            self._break()
        given = dict(attrs)
        if tag == "pre":
            self._pre += 1
            self._lines.append("```")
        elif tag == "li":
            self._line = "- "
        elif len(tag) == 2 and tag[0] == "h" and tag[1] in "123456":
            self._line = "#" * int(tag[1]) + " "
        elif tag in ("td", "th") and self._line:
            self._line += " | "
        elif tag == "img" and (given.get("alt") or "").strip():
            self._line += f"[picture: {given['alt']}]"
        elif tag == "a":
            self._links.append((given.get("href") or "", len(self._line)))

    def handle_endtag(self, tag: str) -> None:
        if tag == "title":
            self._in_title = False
        if tag == "body" or tag == "html":
            self._skipped.clear()
        if self._skipped:
            if tag == self._skipped[-1]:
                self._skipped.pop()
            return
        if tag == "a" and self._links:
            target, start = self._links.pop()
            words = self._line[start:].strip()
            if (
                words
                and re.match(r"(?:https?:/)?/|\.{0,2}/?[\w%-]", target)
                and not target.startswith("javascript:")
            ):
                self._line = f"{self._line[:start]}[{words}]({target})"
        if tag in _BLOCKS and tag not in _VOID:
            self._break()
        if tag == "pre" and self._pre:
            self._pre -= 1
            self._lines.append("```")

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        if tag not in _VOID:
            self.handle_endtag(tag)

    def handle_data(self, data: str) -> None:
        if self._in_title:
            self.title = (self.title + data)[:300]
        if self._skipped or self._in_title:
            return
        if self._pre:
            first, *more = data.split("\n")
            self._line += first
            for each in more:
                self._lines.append(self._line)
                self._line = each
            return
        words = re.sub(r"\s+", " ", data)
        self._line += words.lstrip() if not self._line or self._line.endswith(" ") else words

    def _break(self) -> None:
        line = self._line if self._pre else self._line.strip()
        self._line = ""
        self._links = [(target, 0) for target, _ in self._links]
        if line and line not in ("-", "#", "##", "###", "####", "#####", "######"):
            self._lines.append(line)
        elif self._lines and self._lines[-1] and not self._pre:
            self._lines.append("")

    @property
    def text(self) -> str:
        self._break()
        return re.sub(r"\n{3,}", "\n\n", "\n".join(self._lines)).strip()


def plain(html: str) -> tuple[str, str]:
    """Title and text."""
    page = Page()
    page.feed(html)
    page.close()
    return " ".join(page.title.split()), page.text


def chosen(html: str) -> tuple[str, str]:
    """The text of the page's main part, and who found it."""
    try:
        import trafilatura  # type: ignore[import-not-found]
    except ImportError:
        return "", ""
    found = trafilatura.extract(
        html,
        output_format="markdown",
        include_links=True,
        include_tables=True,
        favor_recall=True,
        deduplicate=False,
    )
    return found or "", "trafilatura"


def main() -> None:
    html = sys.stdin.buffer.read().decode("utf-8", "replace")
    out = os.fdopen(os.dup(1), "wb")
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)  # what libraries have to say isn't part of the page
    os.dup2(nowhere, 2)
    title, whole = plain(html)
    text, by = ("", "") if sys.argv[1:] == ["plain"] else chosen(html)
    if len(text) < min(_LITTLE, len(whole) // 3):
        text, by = whole, ""
    out.write(json.dumps({"title": title, "by": by}).encode() + b"\n" + text.encode("utf-8", "replace"))
    out.flush()


if __name__ == "__main__":
    main()
