"""Which files are the project's own code."""

import os
import re
import sys

_FOREIGN = {
    "site-packages",
    "dist-packages",
    ".venv",
    "venv",
    ".tox",
    ".nox",
    ".eggs",
    ".git",
    "node_modules",
}
_TEST_FOLDERS = {"tests", "test"}
_TEST_FILE = re.compile(r"(test_.*|.*_test|tests?|conftest)\.py$")


class Project:
    """The folder under repair as processes see it. All relative paths are POSIX."""

    def __init__(self, root):
        self.roots = tuple(sorted({os.path.abspath(root) + os.sep, os.path.realpath(root) + os.sep}))
        self._known = {}

    def inside(self, filename):
        """Path relative to the project of a file of its own, tests included; None for any other."""
        path = os.path.abspath(filename)
        for root in self.roots:
            if path.startswith(root):
                relative = path[len(root) :]
                return None if _FOREIGN.intersection(relative.split(os.sep)) else relative
        return None

    def source(self, filename):
        """As `inside`, but None for test code too. Remembered, since a tracer asks again and again."""
        try:
            return self._known[filename]
        except KeyError:
            relative = self.inside(filename) if filename[:1] != "<" else None
            if relative is not None:
                *folders, name = relative.split(os.sep)
                if _TEST_FOLDERS.intersection(folders) or _TEST_FILE.match(name):
                    relative = None
            self._known[filename] = relative
            return relative

    def loaded(self):
        """Project-relative paths of the modules of the project that this process has imported."""
        found = {self.inside(path) for _, path in _module_files() if path}
        return sorted(found - {None})

    def foreign_modules(self):
        """Names of the imported modules that are not the project's, in the order of their import."""
        return [name for name, path in _module_files() if path is None or self.inside(path) is None]


def forget_hidden(names, folders):
    """Takes modules out of sys.modules that a project has under the same name: for it, they aren't imported yet."""
    for name in names:
        own = [os.path.join(folder, name) for folder in folders]
        if "." not in name and any(
            os.path.isfile(p + ".py") or os.path.isfile(p + "/__init__.py") for p in own
        ):
            for loaded in [n for n in sys.modules if n == name or n.startswith(name + ".")]:
                del sys.modules[loaded]


def _module_files():
    for name, module in list(sys.modules.items()):
        path = getattr(module, "__file__", None)
        yield name, path if isinstance(path, str) else None
