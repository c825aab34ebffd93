"""The order in which packages have to be installed."""


class Cycle(Exception):
    pass


class Missing(Exception):
    pass


def order(packages, wanted):
    """Names to install, dependencies first, each once.

    `packages` maps a name to the names that it needs.
    """
    result = []
    done = set()
    active = []

    def visit(name):
        if name in done:
            return
        if name in active:
            raise Cycle(" -> ".join([*active[active.index(name):], name]))
        if name not in packages:
            raise Missing(name)
        active.append(name)
        for needed in packages[name]:
            visit(needed)
        active.pop()
        done.add(name)
        result.append(name)

    for name in wanted:
        visit(name)
    return result


def unused(packages, wanted):
    """Packages that nothing wanted needs, by name."""
    return sorted(set(packages) - set(order(packages, wanted)))
