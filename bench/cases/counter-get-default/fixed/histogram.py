"""Histograms of words."""

import re

WORD = re.compile(r"[a-z']+")


def words(text):
    return WORD.findall(text.lower())


def histogram(text, ignore=()):
    """word → how often it occurs, without the words of `ignore`."""
    counts = {}
    for word in words(text):
        if word in ignore:
            continue
        counts[word] = counts.get(word, 0) + 1
    return counts


def top(text, count=3, ignore=()):
    """The most frequent words, equal ones in the order of the alphabet."""
    pairs = histogram(text, ignore).items()
    ordered = sorted(pairs, key=lambda pair: (-pair[1], pair[0]))
    return [word for word, _ in ordered[:count]]


def bars(text, width=20):
    """A bar of # for each word, the longest of `width`."""
    counts = histogram(text)
    most = max(counts.values(), default=1)
    return [f"{word} {'#' * (width * n // most)}" for word, n in sorted(counts.items())]
