"""A registry of plugins."""


class Registry:
    def __init__(self):
        self._plugins = {}

    def register(self, name, factory, *, replace=False):
        """Adds a plugin; a name can be taken only once unless `replace` is given."""
        if not name:
            raise ValueError("a plugin needs a name")
        if name in self._plugins and not replace:
            raise KeyError(f"{name} is registered already")
        self._plugins[name] = factory

    def create(self, name, *args):
        """A new instance; KeyError names what there is."""
        if name not in self._plugins:
            known = ", ".join(sorted(self._plugins)) or "nothing"
            raise KeyError(f"{name}; known: {known}")
        return self._plugins[name](*args)

    def names(self):
        return sorted(self._plugins)

    def remove(self, name):
        self._plugins.pop(name, None)
