"""Finds the handler for a request."""


class Route:
    def __init__(self, method, pattern, handler):
        self.method = method
        self.parts = pattern.strip("/").split("/")
        self.handler = handler

    def match(self, path):
        """Parameters of `path`, or None where it doesn't fit."""
        parts = path.strip("/").split("/")
        if len(parts) != len(self.parts):
            return None
        found = {}
        for ours, theirs in zip(self.parts, parts):
            if ours.startswith(":"):
                found[ours[1:]] = theirs
            elif ours != theirs:
                return None
        return found


class Router:
    def __init__(self):
        self.routes = []

    def add(self, method, pattern, handler):
        self.routes.append(Route(method.upper(), pattern, handler))

    def find(self, method, path):
        """(status, handler, parameters); 404 for an unknown path, 405 for a wrong method."""
        known = False
        for route in self.routes:
            found = route.match(path)
            if found is not None and route.method == method.upper():
                return 200, route.handler, found
            known = known or found is not None
        return (405 if known else 404), None, {}
