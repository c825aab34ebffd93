import json
from pathlib import Path

assert json.loads(Path("settings.json").read_text()) == {"name": "demo", "version": "2.0", "debug": False}
