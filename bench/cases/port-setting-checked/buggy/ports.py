"""The port that a service listens on."""

DEFAULT = 8080


def port(settings):
    """The port of `settings`, the default where none is set. ValueError for what is no number."""
    try:
        value = int(settings["port"])
    except (KeyError, ValueError):
        return DEFAULT
    if not 0 < value < 65536:
        raise ValueError(f"no port: {value}")
    return value
