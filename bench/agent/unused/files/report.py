import json
import os


def report(rows):
    return json.dumps(rows)
