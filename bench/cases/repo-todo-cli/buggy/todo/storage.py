"""Keeps the items in a JSON file."""

import json
from dataclasses import asdict

from todo.items import Item


def load(path):
    if not path.exists():
        return []
    return [Item(**entry) for entry in json.loads(path.read_text("utf-8"))]


def save(path, items):
    path.write_text(json.dumps([asdict(item) for item in items], indent=1), "utf-8")
