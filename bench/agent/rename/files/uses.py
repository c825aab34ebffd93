from names import old


def twice():
    return 2 * old()
