"""Reads settings from KEY=value files."""


class EnvError(ValueError):
    """A line that is no setting."""


def unquote(value):
    """Takes one pair of equal quotes off."""
    if len(value) >= 2 and value[0] == value[-1] and value[0] in "'\"":
        return value[1:-1]
    return value


def parse_line(line, number=0):
    """(key, value) of a line, or None for blank lines and comments."""
    line = line.strip()
    if not line or line.startswith("#"):
        return None
    if line.startswith("export "):
        line = line[len("export "):].lstrip()
    if "=" not in line:
        raise EnvError(f"line {number}: no '=' in {line!r}")
    key, value = line.split("=", 1)
    key = key.strip()
    if not key.isidentifier():
        raise EnvError(f"line {number}: bad name {key!r}")
    return key, unquote(value.strip())


def parse(text):
    """All settings of a file as a dict; later lines win."""
    settings = {}
    for number, line in enumerate(text.splitlines(), 1):
        pair = parse_line(line, number)
        if pair is not None:
            settings[pair[0]] = pair[1]
    return settings
