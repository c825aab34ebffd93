"""Tags of articles."""


def clean(tag):
    return tag.strip().lstrip("#").lower()


def tags_of(text):
    """The tags of a comma-separated text, each once, in order of the alphabet."""
    return sorted({clean(tag) for tag in text.split(",") if clean(tag)})


def index(articles):
    """tag → titles of the articles that carry it."""
    found = {}
    for title, text in articles.items():
        for tag in tags_of(text):
            found.setdefault(tag, []).append(title)
    return found


def cloud(articles):
    """(tag, count), the most frequent first, then by name."""
    pairs = [(tag, len(titles)) for tag, titles in index(articles).items()]
    return sorted(pairs, key=lambda pair: (-pair[1], pair[0]))
