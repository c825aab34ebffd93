"""`python -m deskagent`: the command line, importing nothing from the folder it is started in."""

import sys

if sys.path and sys.path[0] in ("", __import__("os").getcwd()):
    del sys.path[0]

from deskagent.cli import main

if __name__ == "__main__":
    sys.exit(main())
