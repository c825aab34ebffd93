"""An outline of a document: headings within headings."""


class Heading:
    def __init__(self, title, *children):
        self.title = title
        self.children = list(children)

    def walk(self, depth=0):
        """(depth, title) of this heading and everything below it, top down."""
        yield depth, self.title
        for child in self.children:
            yield child.walk(depth + 1)

    def find(self, title):
        """The first heading of that title, or None."""
        if self.title == title:
            return self
        for child in self.children:
            found = child.find(title)
            if found is not None:
                return found
        return None

    def height(self):
        return 1 + max((child.height() for child in self.children), default=0)

    def render(self):
        return "\n".join("  " * depth + "- " + title for depth, title in self.walk())
