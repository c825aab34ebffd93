"""Regular expressions that take too little or too much: classes, quantifiers, groups and alternatives, with what the
failing examples hand in."""

from __future__ import annotations

import re
from collections.abc import Iterator

from deskagent.repair.candidates.base import Place, Proposal, Table, put, shorten
from deskagent.repair.candidates.shown import Ranked, best, fit, literal, texts
from deskagent.repair.candidates.strings import sound
from deskagent.repair.nodes import Node

_CLASS = re.compile(r"(?<!\\)\[\^?\]?(?:\\.|[^\]\\])*\]")
_GROUP = re.compile(r"(?<!\\)\((?:\?:)?((?:\\.|[^()\\])*)\)")
_ATOM = re.compile(r"(?:\\.|\[(?:\\.|[^\]\\])+\]|\w|[ :,;=@/#%&!<>~'\"-])(?![*+?{\w ])")
_COUNT = re.compile(r"\{(\d+)(?:(,)(\d*))?\}")
_DOTS = re.compile(r"(?<!\\)\.([*+])(?!\?)")
_CALLS = frozenset({"compile", "match", "search", "fullmatch", "findall", "finditer", "split", "sub", "subn"})
# part of a pattern → what it is often meant to be
WIDER: tuple[tuple[str, tuple[tuple[str, float], ...]], ...] = (
    (r"\d+", ((r"-?\d+", 0.8), (r"[+-]?\d+", 0.5), (r"\d+(?:\.\d+)?", 0.8), (r"\d*", 0.4), (r"[\d,]+", 0.3),
              (r"\d*\.?\d+", 0.2), (r"\d+\.?\d*", 0.2), (r"[\d.]+", 0.4), (r"-?\d+(?:\.\d+)?", 0.3), (r"\d", 0.3))),
    (r"\w+", ((r"[\w-]+", 0.8), (r"[\w.-]+", 0.6), (r"[\w.]+", 0.6), (r"\S+", 0.4), (r"[^\W\d]\w*", 0.4),
              (r"\w*", 0.3), (r"[\w ]+", 0.4), (r"[\w']+", 0.4))),
    (r"\s+", ((r"\s*", 0.8), (r" +", 0.2), (r"[ \t]+", 0.3))),
    (r"\s*", ((r"\s+", 0.5), (r"[ \t]*", 0.4))),
    (" ", ((r"\s+", 0.6), (r"\s*", 0.6), (" *", 0.3), (" +", 0.4))),
    (r"\s", ((r"\s+", 0.8), (r"\s*", 0.5))),
    ("-?", ((r"[+-]?", 1.0), ("", 0.2))),
    (r"\d", ((r"\d+", 0.7), (r"[0-9a-f]", 0.2), (r"\d{2}", 0.2), (r"\d{1,2}", 0.4))),
    (".*", ((".*?", 1.0), (".+", 0.6), (r"[^\n]*", 0.2), (r"[\s\S]*", 0.3))),
    (".+", ((".+?", 1.0), (".*", 0.6), (r"[\s\S]+", 0.3))),
    ("^", (("", 0.4), (r"\b", 0.2), (r"(?:^|\s)", 0.3))),
    ("$", (("", 0.4), (r"\Z", 0.5), (r"\b", 0.2))),
    (r"\b", (("", 0.3), (r"(?!\w)", 0.2))),
)  # fmt: skip


def is_pattern(node: Node) -> bool:
    """Whether a string is handed to `re`, or looks like what is."""
    bracket = node.parent
    call = bracket.parent if bracket is not None and bracket.kind == "argument_list" else None
    function = call.get("function") if call is not None else None
    if function is not None and function.text.startswith(("re.", "regex.")):
        return bracket is not None and bracket.parts[0] is node
    raw = "r" in node.text[:2].lower()
    return raw and bool(re.search(r"\\[dwsSWDbB.]|\[[^\]]+\]|\(\?", node.text))


def edits(node: Node, place: Place) -> Iterator[Proposal]:
    """Each part of the pattern made wider or narrower, one at a time."""
    contents = [child for child in node.children if child.kind == "string_content"]
    if len(contents) != 1 or node.end - node.start > 300 or not is_pattern(node):
        return
    content, text = contents[0], contents[0].text
    raw = "r" in node.text[:2].lower()
    made: dict[str, float] = {}
    for changed, weight in _changed(text, place):
        if (
            changed != text
            and weight > made.get(changed, 0.0)
            and (raw or changed.count("\\") <= text.count("\\"))
        ):
            made[changed] = weight
    quote = node.text[-1]
    for changed, weight in made.items():
        if sound(changed) and quote not in changed.replace(quote, "", text.count(quote)):
            edit = (content.start, content.end, changed)
            yield Proposal("string.regex", weight, (edit,), f"{shorten(text)} → {shorten(changed)}")
    if not raw and re.search(r"\\[bBdwsWDS]", node.text):
        yield put("string.regex", node, "r" + node.text, 1.0)


def _changed(text: str, place: Place) -> Iterator[tuple[str, float]]:
    yield from _classes(text, place)
    yield from _alternatives(text, place)
    for old, options in WIDER:
        for match in re.finditer(re.escape(old), text):
            if match.start() and text[match.start() - 1] == "\\":
                continue
            for new, weight in options:
                yield text[: match.start()] + new + text[match.end() :], weight
    for match in _DOTS.finditer(text):  # `"(.*)"` → `"([^"]*)"`
        stop = re.match(r"\)?(?:\\?([^\w\s\\()])|(?=$))", text[match.end() :])
        if stop is not None and stop.group(1):
            sign = stop.group(1)
            sign = "\\" + sign if sign in "]^\\-" else sign
            yield f"{text[: match.start()]}[^{sign}]{match.group(1)}{text[match.end() :]}", 0.7
    for match in _COUNT.finditer(text):
        low, comma, high = int(match.group(1)), match.group(2), match.group(3)
        top = int(high or low)
        fewer = f"{{{max(0, low - 1)},{top}}}" if comma else "*"
        for new in (f"{{{low},}}", f"{{1,{top}}}", f"{{{low},{low + 1}}}", f"{{{low + 1}}}", "+", f"{{{top}}}",
                    f"{{{low},{top + 1}}}", fewer):  # fmt: skip
            yield text[: match.start()] + new + text[match.end() :], 0.6
    for match in _GROUP.finditer(text):
        after = text[match.end() : match.end() + 1]
        if after not in ("?", "*", "+", "{"):
            for sign, weight in (("?", 0.8), ("*", 0.3), ("+", 0.3)):
                yield text[: match.end()] + sign + text[match.end() :], weight
        elif after == "?":
            yield text[: match.end()] + text[match.end() + 1 :], 0.5
            yield text[: match.end()] + "*" + text[match.end() + 1 :], 0.5
        if text[match.start() : match.start() + 3] != "(?:":
            yield f"{text[: match.start()]}(?:{match.group(1)}){text[match.end() :]}", 0.5
        else:
            yield f"{text[: match.start()]}({match.group(1)}){text[match.end() :]}", 0.3
    for match in _ATOM.finditer(text):
        if text[: match.start()].count("[") == text[: match.start()].count("]"):
            yield text[: match.end()] + "?" + text[match.end() :], 0.35
            yield text[: match.end()] + "+" + text[match.end() :], 0.35
            yield text[: match.end()] + "*" + text[match.end() :], 0.25
    for match in re.finditer(r"(?<![\\\w\s(\[])[=:,;]|(?<=[\w)\]+*])[=:,;]", text):
        yield f"{text[: match.start()]}\\s*{match.group()}\\s*{text[match.end() :]}", 0.5
        yield f"{text[: match.end()]}\\s*{text[match.end() :]}", 0.4
    for match in re.finditer(r"(?<!\\)[.$+?()|*]", text):
        weight = (
            0.8
            if match.group() == "." and text[match.end() : match.end() + 1] not in ("*", "+", "?")
            else 0.3
        )
        yield f"{text[: match.start()]}\\{match.group()}{text[match.end() :]}", weight
    for cut in range(1, min(len(text), 40)):
        rest, end = (text[cut:-1], "$") if text.endswith("$") else (text[cut:], "")
        if len(rest) > 1 and text[cut - 1] != "\\" and rest[0] not in "*+?{":
            yield f"{text[:cut]}(?:{rest})?{end}", 0.4
    whole = f"(?:{text})" if "|" in text else text
    for changed, weight in (
        (f"(?i){text}", 0.5), (f"(?m){text}", 0.4), (f"(?s){text}", 0.4), (f"\\s*{text}", 0.4), (f"{text}\\s*", 0.4),
        (f"\\s*{text}\\s*", 0.3), (f"^{whole}$", 0.5), (f"{whole}$", 0.5), (f"^{whole}", 0.4),
        (f"\\b{whole}\\b", 0.5), (f"-?{text}", 0.4), (f"[+-]?{text}", 0.3), (f"{text}+", 0.3),
    ):  # fmt: skip
        yield changed, weight


def _classes(text: str, place: Place) -> Iterator[tuple[str, float]]:
    """`[a-z]` with the signs in it that the failing examples have."""
    shown = "".join(v for v in place.hints.examples.given[:10] if isinstance(v, str))
    signs = [c for c in dict.fromkeys(shown) if not c.isalnum() and c.isprintable()]
    kinds = [
        ("0-9", any(c.isdigit() for c in shown)), ("A-Z", any(c.isupper() for c in shown)),
        ("a-z", any(c.islower() for c in shown)), (r"\w", any(not c.isascii() for c in shown)), ("_", "_" in shown),
    ]  # fmt: skip
    for match in _CLASS.finditer(text):
        body = match.group()
        inner = body[1:-1]
        for sign in signs[:12]:
            if sign in inner:
                continue
            put_in = "\\" + sign if sign in "]\\^" else sign
            tail = "-" if inner.endswith("-") else ""
            new = f"{inner[: len(inner) - len(tail)]}{put_in}{tail}"
            yield f"{text[: match.start()]}[{new}]{text[match.end() :]}", 1.0
        for kind, seen in kinds:
            if kind not in inner:
                weight = 0.9 if seen else 0.3
                yield f"{text[: match.start()]}[{inner}{kind}]{text[match.end() :]}", weight
        if inner.startswith("^"):
            yield f"{text[: match.start()]}[{inner[1:]}]{text[match.end() :]}", 0.3
        elif not inner.startswith("^"):
            yield f"{text[: match.start()]}[^{inner}]{text[match.end() :]}", 0.2
        for part in (r"a-z", r"A-Z", r"0-9", "_", "-", ".", r"\d", r"\w", r"\s", " "):
            if part in inner and len(inner) > len(part):
                yield f"{text[: match.start()]}[{inner.replace(part, '', 1)}]{text[match.end() :]}", 0.3


def _alternatives(text: str, place: Place) -> Iterator[tuple[str, float]]:
    """`(a|b)` → `(a|b|c)`, with what a failing example hands in; the longest first."""
    for match in re.finditer(r"\w[\w-]*(?:\|\w[\w-]*)+", text):
        held = match.group().split("|")
        ranked: Ranked = {t: w * fit(str(t), held) for t, w in texts(place.hints).items() if t not in held}
        for word, weight in best(ranked, 10):
            plain = re.escape(str(word))
            yield f"{text[: match.end()]}|{plain}{text[match.end() :]}", weight
            if held == sorted(held):
                ordered = "|".join(sorted([*held, plain]))
                yield text[: match.start()] + ordered + text[match.end() :], 0.8 * weight
        longest = "|".join(sorted(held, key=len, reverse=True))
        yield text[: match.start()] + longest + text[match.end() :], 0.7
        if match.start() == 0 or text[match.start() - 1] not in "(:":
            yield f"{text[: match.start()]}(?:{match.group()}){text[match.end() :]}", 0.7


def escaped(node: Node, place: Place) -> Iterator[Proposal]:
    """`re.sub(word, …)` → `re.sub(re.escape(word), …)`, and the same in a pattern's fields."""
    if "re" not in place.names:
        return
    if node.kind == "interpolation":
        inner = next((child for child in node.children if child.named), None)
        if inner is not None and inner.kind in {"identifier", "attribute", "subscript"}:
            yield put("string.regex", inner, f"re.escape({inner.text})", 0.8)
        return
    function, bracket = node.get("function"), node.get("arguments")
    if function is None or bracket is None or not bracket.parts or function.text.partition(".")[0] != "re":
        return
    if function.text.rpartition(".")[2] not in _CALLS:
        return
    first = bracket.parts[0]
    if literal(first) is None and first.kind in {"identifier", "attribute", "subscript"}:
        yield put("string.regex", first, f"re.escape({first.text})", 1.0)
    name = function.text.rpartition(".")[2]
    keyword = "flags=" if name in {"sub", "subn", "split"} else ""
    if not any("re." in part.text for part in bracket.parts[1:]):
        at = bracket.parts[-1].end
        for flag, weight in (
            ("re.IGNORECASE", 0.7),
            ("re.MULTILINE", 0.6),
            ("re.DOTALL", 0.6),
            ("re.ASCII", 0.2),
        ):
            yield Proposal(
                "string.regex", weight, ((at, at, f", {keyword}{flag}"),), f"pass {keyword}{flag} to {name}"
            )
    else:
        part = next(part for part in bracket.parts[1:] if "re." in part.text)
        for flag in ("re.IGNORECASE", "re.MULTILINE", "re.DOTALL"):
            if flag not in part.text:
                at = part.end
                yield Proposal("string.regex", 0.6, ((at, at, f" | {flag}"),), f"pass {flag} to {name}")


TABLE: Table = {"string": (edits,), "call": (escaped,), "interpolation": (escaped,)}
