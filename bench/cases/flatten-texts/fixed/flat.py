"""Lists of lists, one level taken off."""


def flatten(things):
    """All that the lists and tuples in `things` hold, in order; what is neither stays as it is."""
    flat = []
    for thing in things:
        if isinstance(thing, (list, tuple)):
            flat.extend(thing)
        else:
            flat.append(thing)
    return flat


def depth(things):
    """How deep the lists go; 1 for a list without lists."""
    return 1 + max((depth(thing) for thing in things if isinstance(thing, list)), default=0)
