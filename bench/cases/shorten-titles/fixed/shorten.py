"""Fits text into narrow columns."""

MARK = "..."


def shorten(text, width):
    """`text` on one line of at most `width` characters; what was cut is marked by three dots."""
    text = " ".join(text.split())
    if width < len(MARK):
        raise ValueError(f"width must be at least {len(MARK)}")
    if len(text) <= width:
        return text
    return text[:width - len(MARK)].rstrip() + MARK


def column(texts, width):
    """Every text shortened and padded to exactly `width`."""
    return [shorten(text, width).ljust(width) for text in texts]


def table(rows, width=12):
    return "\n".join(" | ".join(column(row, width)).rstrip() for row in rows)
