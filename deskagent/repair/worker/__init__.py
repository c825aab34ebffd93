"""The warm worker: runs a project's tests again and again, each time in a fresh fork of a prepared process.

Nothing here is imported by deskagent. `__main__.py` is started by the interpreter that the test command uses (Python
3.8 or newer, standard library alone) and speaks JSON lines on its standard input and output:

    first line in   {"runner", "args", "project", "cwd_first", "level", "folder"}
    then lines in   {"op": "run", …} · {"op": "preload", "names": […]} · {"op": "cancel"}
    lines out       "z{…}" from the worker itself (ready, done), "c{…}" passed on from a test run

Inside, the folder is the package `deskagent_worker`, so that no name of it can meet one of the project.
"""
