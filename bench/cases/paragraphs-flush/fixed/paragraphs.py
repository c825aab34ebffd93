"""Splits text into paragraphs and fills them."""


def paragraphs(text):
    """Paragraphs as single lines; blank lines separate them."""
    found = []
    current = []
    for line in text.splitlines():
        if line.strip():
            current.append(line.strip())
        elif current:
            found.append(" ".join(current))
            current = []
    if current:
        found.append(" ".join(current))
    return found


def fill(paragraph, width):
    """A paragraph broken into lines of at most `width` where words allow it."""
    lines = []
    line = ""
    for word in paragraph.split():
        if line and len(line) + 1 + len(word) > width:
            lines.append(line)
            line = word
        else:
            line = f"{line} {word}" if line else word
    if line:
        lines.append(line)
    return lines


def refill(text, width):
    return "\n\n".join("\n".join(fill(paragraph, width)) for paragraph in paragraphs(text))
