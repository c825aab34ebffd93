"""Starts the worker: makes its folder importable under a name of its own, then serves."""

import os
import sys


def main():
    before = set(sys.modules)
    import types

    here = os.path.dirname(os.path.abspath(__file__))
    if sys.path and os.path.abspath(sys.path[0]) == here:
        del sys.path[0]  # Python put it there for the script; the project must not see it
    package = types.ModuleType("deskagent_worker")
    package.__path__ = [here]
    sys.modules["deskagent_worker"] = package
    from deskagent_worker import server

    server.main(before)


if __name__ == "__main__":  # children of multiprocessing import this file again
    main()
