import io
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent.parent))

from todo.cli import main


@pytest.fixture
def todo(tmp_path):
    def run(*words):
        out = io.StringIO()
        code = main(["--file", str(tmp_path / "list.json"), *words], out)
        return code, out.getvalue()

    return run
