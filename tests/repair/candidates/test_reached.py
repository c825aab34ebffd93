"""Typical slips in small made-up code: the right edit comes early though every line is suspected alike.

A program is written once; `§wrong§right§` marks what the slip turned round, either may span lines or be empty.
"""

import ast
import itertools
import re

import pytest

from deskagent.repair.rank import iter_candidates
from deskagent.repair.source import SourceFile
from deskagent.repair.syntax import Syntax
from deskagent.repair.types import Baseline, Outcome, Suspect, TestResult

MARK = re.compile("§([^§]*)§([^§]*)§")
REACH = 300

COUNTER = """
class Turnstile:
    def __init__(self, seats):
        self.seats = seats
        self.inside = 0
        self.refused = []
        self.locked = False

    def enter(self, guest):
        if self.inside >= self.seats:
            self.refused.append(guest)
            return False
        {enter}return True

    def leave(self, guest):
        if self.inside == 0:
            raise ValueError("nobody is inside")
        {leave}
        self._unlock()

    def close(self):
        self.locked = True
        {close}

    def _unlock(self):
        if self.inside < self.seats:
            self.locked = False

    def _lock(self):
        self.locked = True
"""
PLAIN = {"enter": "self.inside += 1\n        ", "leave": "self.inside -= 1", "close": "self.refused.clear()"}


def turnstile(**parts):
    return COUNTER.format(**{**PLAIN, **parts})


SLIPS = {
    "reset in a branch": """
def longest(words, mark):
    best = 0
    run = 0
    for word in words:
        if word == mark:
            run += 1
            best = max(best, run)
        §§else:
            run = 0
        §
    return best
""",
    "reset after handing on": """
def groups(items, size):
    found = []
    group = []
    for item in items:
        group.append(item)
        if len(group) == size:
            found.append(group)
            §§group = []§
    return found
""",
    "reset at the begin of each round": """
def totals(rows):
    found = []
    total = 0
    for row in rows:
        §§total = 0
        §for cell in row:
            total += cell
        found.append(total)
    return found
""",
    "count not raised": turnstile(enter="§§self.inside += 1\n        §"),
    "count not lowered": turnstile(leave="§§self.inside -= 1\n        §self.locked = False"),
    "method not called": turnstile(leave="self.inside -= 1\n        §self.locked = False§self._unlock()§"),
    "returned too early": """
def first_even(numbers):
    for number in numbers:
        if number % 2 == 0:
            return number
    §    return None§return None§
""",
    "update out of the loop": """
def spread(levels):
    seen = {}
    for level in levels:
        key = level // 10
§    seen[key] = level§        seen[key] = level§
    return seen
""",
    "line too many": """
def drain(queue):
    out = []
    while queue:
        item = queue.pop(0)
        §queue.pop(0)
        §§out.append(item)
    return out
""",
    "lines in the wrong order": """
def step(a, b):
    for _ in range(3):
        §a = b
        last = a§last = a
        a = b§
        b = last + b
    return b
""",
    "append once more": """
def unique(items):
    seen = set()
    out = []
    for item in items:
        §seen.add(item)
        out.append(item)§if item not in seen:
            seen.add(item)
            out.append(item)§
    return out
""",
    "condition around": """
def index(pairs):
    found = {}
    for key, value in pairs:
        §found[key] = value§if key not in found:
            found[key] = value§
    return found
""",
    "not while paused": """
class Meter:
    def __init__(self):
        self.paused = False
        self.ticks = 0

    def tick(self, amount):
        §self.ticks += amount§if not self.paused:
            self.ticks += amount§

    def shown(self):
        if self.paused:
            return "paused"
        return str(self.ticks)
""",
    "branches swapped": """
def fare(age, price):
    if age < 12:
        §return price
    else:
        return price // 2§return price // 2
    else:
        return price§
""",
    "wrapped around": """
class Ring:
    def __init__(self, size):
        self.size = size
        self.head = 0
        self.cells = [None] * size

    def put(self, value):
        self.cells[self.head] = value
        self.head = (self.head + 1) % self.size

    def at(self, back):
        place = §self.head - back§(self.head - back) % self.size§
        return self.cells[place]
""",
    "room for the mark": """
DOTS = "..."

def fit(text, width):
    if len(text) <= width:
        return text
    return text[:§width§width - len(DOTS)§] + DOTS
""",
    "room for the prefix": """
def indent(line, prefix, width):
    space = §width§width - len(prefix)§
    return prefix + line.ljust(space)
""",
    "skip past the needle": """
def count(text, needle):
    found = 0
    at = text.find(needle)
    while at >= 0:
        found += 1
        at = text.find(needle, §at + 1§at + len(needle)§)
    return found
""",
    "distance has no sign": """
def close_to(a, b, limit):
    return §a - b§abs(a - b)§ < limit
""",
    "share of the total": """
def shares(parts):
    total = sum(parts)
    return [§part§part / total§ for part in parts]
""",
    "in cents": """
RATE = 100

def cents(euros):
    return euros * RATE

def refund(euros, fee):
    return §euros§euros * RATE§ - fee
""",
    "slice one short": """
def head(items, n):
    return items[:§n - 1§n§]
""",
    "last of all": """
def newest(entries):
    return entries[§0§-1§]
""",
    "every second": """
def odd_places(items):
    return items[§1:§1::2§]
""",
    "from the next on": """
def pairs(items):
    found = []
    for i, one in enumerate(items):
        for two in items[§i§i + 1§:]:
            found.append((one, two))
    return found
""",
    "window's end": """
def windows(items, size):
    return [items[i:§size§i + size§] for i in range(len(items) - size + 1)]
""",
    "loop's bound": """
def windows(items, size):
    return [items[i : i + size] for i in range(§len(items)§len(items) - size + 1§)]
""",
    "loop's begin": """
def rises(values):
    found = 0
    for i in range(§len(values)§1, len(values)§):
        if values[i] > values[i - 1]:
            found += 1
    return found
""",
    "sum, not last": """
def weight(crates):
    total = 0
    for crate in crates:
        total §=§+=§ crate.weight
    return total
""",
    "best so far": """
def tallest(people):
    best = None
    for person in people:
        if best is None or person.height > best.height:
            best = §best§person§
    return best
""",
    "field of the same thing": """
class Task:
    def __init__(self, due, every, name):
        self.due = due
        self.every = every
        self.name = name


def following(task, now):
    if task.every is None:
        return None
    return §now§task.due§ + task.every
""",
    "key, not value": """
def invert(table):
    return {§key: value§value: key§ for key, value in table.items()}
""",
    "previous moved on": """
def jumps(values):
    found = []
    previous = values[0]
    for value in values[1:]:
        found.append(value - previous)
        §§previous = value§
    return found
""",
    "same wrong name twice": """
def area(left, right, top, bottom):
    if §left§top§ > bottom:
        return 0
    return (right - 10) * (bottom - §left§top§)
""",
    "both bounds": """
def inside(x, low, high):
    return low §<§<=§ x §<§<=§ high
""",
    "discount forgotten": """
def rebate(card, sum_):
    return sum_ // 10 if card else 0

def price(order):
    total = order.total
    total -= rebate(order.card, total)
    return total + order.shipping

def quote(offer):
    total = offer.total
    §§total -= rebate(offer.card, total)
    §return total + offer.shipping * 2
""",
    "cleared in the sibling": """
class Cache:
    def __init__(self):
        self.values = {}
        self.order = []

    def put(self, key, value):
        if key not in self.values:
            self.order.append(key)
        self.values[key] = value

    def drop(self, key):
        del self.values[key]
        §§self.order.remove(key)§

    def shrink(self):
        key = self.order[0]
        self.order.remove(key)
        del self.values[key]
""",
    "kept on both ways": """
def split(numbers):
    small, large = [], []
    count = 0
    for number in numbers:
        if number < 10:
            small.append(number)
            count += 1
        else:
            large.append(number)
            §§count += 1§
    return small, large, count
""",
    "went on": """
def clean(lines):
    out = []
    for line in lines:
        if not line.strip():
            §pass§continue§
        out.append(line)
    return out
""",
    "stopped": """
def upto(items, stop):
    out = []
    for item in items:
        if item == stop:
            §continue§break§
        out.append(item)
    return out
""",
    "remembered": """
class Squares:
    def __init__(self):
        self.known = {}

    def of(self, n):
        if n in self.known:
            return self.known[n]
        value = n * n
        §§self.known[n] = value
        §return value
""",
    "result of the method": """
def tidy(name):
    §name.strip()§name = name.strip()§
    return name.title()
""",
    "own attribute": """
class Box:
    def __init__(self, width):
        self.width = width

    def scaled(self, width):
        return §width§self.width§ * 2
""",
    "taken off the end": """
def path_of(node):
    steps = []
    while node is not None:
        steps.append(node.name)
        node = node.parent
    return §steps§steps[::-1]§
""",
    "one name for another in a comprehension": """
def flat(rows):
    return [cell for row in rows for cell in §rows§row§]
""",
}


def programs(text):
    """The wrong and the right program."""
    wrong, right = (MARK.sub(lambda m, g=group: m[g], text) for group in (1, 2))
    return "\n".join(filter(str.strip, wrong.splitlines())) + "\n", right


def shape(code):
    return ast.dump(ast.parse(code))


def rank(text, limit=REACH, message=""):
    """(rank of the right program, operator)."""
    wrong, right = programs(text)
    source = SourceFile.from_bytes("m.py", wrong.encode())
    suspects = [Suspect("m.py", node.line, 1.0 if node.kind not in ("class_definition", "function_definition") else 0.4)
                for node in Syntax(source).statements]  # fmt: skip
    baseline = Baseline((TestResult("test_it", Outcome.FAILED, message=message),), {}, 0.1)
    wanted = shape(right)
    stream = iter_candidates(lambda path: source, suspects, baseline=baseline)
    for number, candidate in enumerate(itertools.islice(stream, limit), 1):
        if shape(source.edited(candidate.edits)) == wanted:
            return number, candidate.operator
    return 0, ""


@pytest.mark.parametrize("name", SLIPS)
def test_a_typical_slip_is_reached(name):
    assert rank(SLIPS[name])[0], f"not within {REACH} candidates"
