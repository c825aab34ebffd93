"""The longest common subsequence of two lists."""


def table(left, right):
    """Lengths for all suffixes."""
    lengths = [[0] * (len(right) + 1) for _ in range(len(left) + 1)]
    for i in range(len(left) - 1, -1, -1):
        for j in range(len(right) - 1, -1, -1):
            if left[i] == right[j]:
                lengths[i][j] = lengths[i + 1][j + 1] + 1
            else:
                lengths[i][j] = max(lengths[i + 1][j], lengths[i][j + 1])
    return lengths


def operations(left, right):
    """(sign, item): ' ' kept, '-' removed, '+' added."""
    lengths = table(left, right)
    i = j = 0
    while i < len(left) and j < len(right):
        if left[i] == right[j]:
            yield " ", left[i]
            i += 1
            j += 1
        elif lengths[i + 1][j] >= lengths[i][j + 1]:
            yield "-", left[i]
            i += 1
        else:
            yield "+", right[j]
            j += 1
    for item in left[i:]:
        yield "-", item
    for item in right[j:]:
        yield "+", item
