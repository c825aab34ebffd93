"""Builds HTML from nested elements."""

VOID = {
    "br",
    "hr",
    "img",
    "input",
    "link",
    "meta",
}

ESCAPES = (("&", "&amp;"), ("<", "&lt;"), (">", "&gt;"), ('"', "&quot;"))


def escape(text):
    for char, entity in ESCAPES:
        text = text.replace(char, entity)
    return text


def attributes(values):
    """Attributes in order of their names; True stands alone, None and False are left out."""
    parts = []
    for name in sorted(values):
        value = values[name]
        if value is True:
            parts.append(f" {name}")
        elif value is not None and value is not False:
            parts.append(f' {name}="{escape(str(value))}"')
    return "".join(parts)


def element(tag, *children, **values):
    """One element as text; children that are plain text must be escaped by the caller."""
    head = f"<{tag}{attributes(values)}>"
    if tag in VOID:
        if children:
            raise ValueError(f"<{tag}> can't have children")
        return head
    return head + "".join(children) + f"</{tag}>"
