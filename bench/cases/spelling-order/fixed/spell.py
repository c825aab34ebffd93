"""Suggests words for misspelled ones."""


def common_prefix(one, other):
    """How many characters two words share at the start."""
    length = 0
    for left, right in zip(one, other):
        if left != right:
            break
        length += 1
    return length


def missing(one, other):
    """How many characters of `one` don't occur in `other`."""
    rest = list(other)
    count = 0
    for char in one:
        if char in rest:
            rest.remove(char)
        else:
            count += 1
    return count


def distance(typed, word):
    """Small for likely words: missing letters, with a bonus for an equal start."""
    return missing(typed, word) + missing(word, typed) - common_prefix(typed, word) / 10


def suggest(typed, words, count=3):
    """The most likely of `words`; just the word itself if it's known."""
    if typed in words:
        return [typed]
    ranked = sorted(words, key=lambda word: (distance(typed, word), word))
    return ranked[:count]


def unknown(text, words):
    return [word for word in text.lower().split() if word not in words]
