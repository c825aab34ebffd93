"""Fills {{name}} places in a text."""

import re

_PLACE = re.compile(r"\{\{\s*(\w+)(?:\|(\w+))?\s*\}\}")

FILTERS = {
    "upper": str.upper,
    "lower": str.lower,
    "title": str.title,
}


class TemplateError(Exception):
    pass


def render(template, values):
    """`template` with every place filled from `values`; a filter may follow after a bar."""

    def fill(match):
        name, filter_name = match.groups()
        if name not in values:
            raise TemplateError("unknown variable")
        text = str(values[name])
        if filter_name is not None:
            if filter_name not in FILTERS:
                raise TemplateError(f"unknown filter: {filter_name}")
            text = FILTERS[filter_name](text)
        return text

    return _PLACE.sub(fill, template)


def variables(template):
    """Names used in `template`, each once, in order."""
    return list(dict.fromkeys(match.group(1) for match in _PLACE.finditer(template)))
