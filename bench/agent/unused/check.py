from pathlib import Path

import report

text = Path("report.py").read_text()
assert "import os" not in text and report.report([1]) == "[1]"
