"""Headlines in title case."""

SMALL = {"a", "an", "and", "of", "the", "in", "on", "to"}


def words(text):
    """The words of `text`, extra white space dropped."""
    return text.split()


def cap(word):
    """`word` with its first letter in upper case; all-capital words (NASA) stay."""
    if word.isupper() and len(word) > 1:
        return word
    return word.capitalize()


def headline(text):
    """`text` in title case: small words stay small but at either end."""
    result = []
    parts = words(text)
    for index, word in enumerate(parts):
        inside = 0 < index < len(parts) - 1
        if inside and word.lower() in SMALL:
            result.append(word.lower())
        else:
            result.append("-".join(cap(piece) for piece in word.split("-")))
    return " ".join(result)
