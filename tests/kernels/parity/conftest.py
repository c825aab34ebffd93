"""Makes `parity_cases`, which the tests here share, importable: tests are no package."""

import sys
from pathlib import Path

FOLDER = str(Path(__file__).parent)
if FOLDER not in sys.path:
    sys.path.insert(0, FOLDER)
