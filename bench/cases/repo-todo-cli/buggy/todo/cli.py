"""The command line."""

import argparse
import sys
from pathlib import Path

from todo.items import Item
from todo.storage import load, save

SIGNS = {1: "!", 2: " ", 3: "~"}


def parser():
    result = argparse.ArgumentParser(prog="todo")
    result.add_argument("--file", type=Path, default=Path("todo.json"))
    commands = result.add_subparsers(dest="command", required=True)
    add = commands.add_parser("add")
    add.add_argument("text", nargs="+")
    add.add_argument("-p", "--priority", type=int, choices=sorted(SIGNS))
    done = commands.add_parser("done")
    done.add_argument("number", type=int)
    commands.add_parser("list")
    return result


def show(items, out):
    ordered = sorted(enumerate(items, 1), key=lambda pair: (pair[1].done, pair[1].priority))
    for number, item in ordered:
        box = "x" if item.done else " "
        print(f"{number:>3} [{box}] {SIGNS[item.priority]} {item.text}", file=out)


def main(argv=None, out=sys.stdout):
    options = parser().parse_args(argv)
    items = load(options.file)
    if options.command == "add":
        items.append(Item(" ".join(options.text), options.priority))
    elif options.command == "done":
        if not 1 <= options.number <= len(items):
            print(f"no item {options.number}", file=sys.stderr)
            return 1
        items[options.number - 1].done = True
    else:
        show(items, out)
        return 0
    save(options.file, items)
    return 0
