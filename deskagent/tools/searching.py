"""Searches files for a regular expression, in a process of its own, so that an expression without an end can be
stopped; the standard library alone.

stdin: a line of JSON {"pattern", "ignore_case", "most"}, then paths, each behind a NUL. stdout: `path\\0line\\0text`
lines, and at the end `\\0N` with the number of lines that were found beyond `most`.
"""

import json
import re
import sys

LONGEST = 400


def main():
    head, _, rest = sys.stdin.buffer.read().partition(b"\n")
    asked = json.loads(head)
    wanted = re.compile(asked["pattern"], re.IGNORECASE if asked["ignore_case"] else 0)
    out, found = sys.stdout.buffer, 0
    for name in rest.split(b"\0"):
        if not name or b"\n" in name:
            continue
        try:
            with open(name, "rb") as file:  # noqa: PTH123
                data = file.read(8 << 20)
        except OSError:
            continue
        if b"\0" in data[:8192]:
            continue
        for number, line in enumerate(data.decode("utf-8", "replace").split("\n"), 1):
            if wanted.search(line):
                found += 1
                if found <= asked["most"]:
                    shown = line.rstrip("\r")[:LONGEST].replace("\0", "")
                    out.write(
                        name + b"\0" + str(number).encode() + b"\0" + shown.encode("utf-8", "replace") + b"\n"
                    )
        out.flush()
    out.write(b"\0" + str(max(0, found - asked["most"])).encode() + b"\n")


if __name__ == "__main__":
    main()
