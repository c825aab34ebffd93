"""Makes the modules of bench/ importable."""

import sys
from pathlib import Path

BENCH = Path(__file__).resolve().parent.parent.parent / "bench"
for folder in (BENCH, BENCH / "cases"):
    if str(folder) not in sys.path:
        sys.path.insert(0, str(folder))
