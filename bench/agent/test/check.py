import subprocess
import sys
from pathlib import Path

run = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "test_words.py"]
assert subprocess.run(run).returncode == 0
Path("words.py").write_text("def count(text):\n    return 0\n")
assert subprocess.run(run).returncode == 1
