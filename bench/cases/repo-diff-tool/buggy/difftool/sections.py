"""Groups changes into sections."""

from difftool.lcs import operations


def sections(left, right):
    """Lists of neighbouring changed lines, each with its sign."""
    found = []
    current = []
    for sign, line in operations(left, right):
        if sign == " ":
            current = []
        else:
            current.append(sign + line)
    if current:
        found.append(current)
    return found


def render(left_text, right_text):
    """The sections as text, separated by a line of dashes."""
    parts = sections(left_text.splitlines(), right_text.splitlines())
    return "\n---\n".join("\n".join(part) for part in parts)


def summary(left_text, right_text):
    """(added, removed) lines."""
    signs = [sign for sign, _ in operations(left_text.splitlines(), right_text.splitlines())]
    return signs.count("+"), signs.count("-")
