"""The index against its yardsticks, on a tree of thousands of Python files copied from this installation.

First build : parsing the same files with tree-sitter; unchanged refresh : `git status`; after a save : parsing
that file; peak memory : size of the source. All in one process and one run, side by side.

Wall-clock times, and beside them processor times (children included), which a busy machine distorts less.
"""

from __future__ import annotations

import os
import resource
import shutil
import statistics
import subprocess
import sys
import sysconfig
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

ROUNDS = 7
SAVED = ("stdlib/bisect.py", "stdlib/types.py", "stdlib/contextlib.py", "stdlib/argparse.py")


def seconds(work: Callable[[], object]) -> tuple[float, float]:
    """Wall-clock and processor seconds."""
    wall, cpu = time.perf_counter(), processor()
    work()
    return time.perf_counter() - wall, processor() - cpu


def processor() -> float:
    """Seconds of this process and its ended children."""
    used = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(usage.ru_utime + usage.ru_stime for usage in used)


def fill(tree: Path) -> None:
    """Copies the Python files of this installation's libraries into `tree`, a git repository."""
    for name in ("stdlib", "purelib"):
        source = Path(sysconfig.get_path(name))
        for path in source.rglob("*.py"):
            inside = path.relative_to(source)
            if name == "stdlib" and "site-packages" in inside.parts:
                continue
            target = tree / name / inside
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, target)
    for command in (
        ("init", "-q"),
        ("add", "-A"),
        ("-c", "user.name=b", "-c", "user.email=b@b", "commit", "-qm", "x"),
    ):
        subprocess.run(["git", *command], cwd=tree, check=True)


def megabytes() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def show(what: str, ours: tuple[float, float], yardstick: tuple[float, float], goal: float) -> None:
    wall, cpu = ours[0] / yardstick[0], ours[1] / yardstick[1]
    print(
        f"{what:<28} {1000 * ours[0]:9.1f} ms : {1000 * yardstick[0]:9.1f} ms"
        f"   ratio {wall:5.2f} (processor {cpu:5.2f})   goal: at most {goal:g}"
    )


def median(rounds: list[tuple[float, float]]) -> tuple[float, float]:
    return statistics.median(wall for wall, _ in rounds), statistics.median(cpu for _, cpu in rounds)


def run(tree: Path) -> None:
    import tree_sitter
    import tree_sitter_python

    from deskagent.repo.index import open_index
    from deskagent.repo.sources import MAX_BYTES

    parser = tree_sitter.Parser(tree_sitter.Language(tree_sitter_python.language()))
    files = [path for path in tree.rglob("*.py") if path.stat().st_size <= MAX_BYTES]
    size = sum(path.stat().st_size for path in files) / 1e6
    print(f"{len(files)} files, {size:.1f} MB")

    def parse_all() -> None:
        for path in files:
            parser.parse(path.read_bytes())

    parsed = seconds(parse_all)
    before = megabytes()
    with open_index(tree) as index:
        built = seconds(index.refresh)
        peak = megabytes()
        again = seconds(parse_all)  # before and after: a shared machine is not the same for a minute
        show("first build : parsing", built, ((parsed[0] + again[0]) / 2, (parsed[1] + again[1]) / 2), 4)
        print(f"peak memory {peak:.0f} MB (before: {before:.0f})   goal: at most {5 * size + 100:.0f}")
        index.refresh()
        status, unchanged = [], []
        for _ in range(ROUNDS):
            status.append(seconds(lambda: subprocess.run(["git", "status", "-s"], cwd=tree, check=True)))
            unchanged.append(seconds(index.refresh))
        show("unchanged : git status", median(unchanged), median(status), 3)
        index.find("main")  # a reader that is open all along, as in a session
        for name in SAVED:
            path = tree / name
            parsing, saved = [], []
            for number in range(ROUNDS):
                path.write_text(f"{path.read_text()}\ndef added_{number}():\n    return {number}\n")
                saved.append(seconds(lambda name=name: index.update([name])))
                data = path.read_bytes()
                parsing.append(seconds(lambda data=data: parser.parse(data)))
            show(f"saved {path.name} : parsing", median(saved), median(parsing), 10)
        found = index.status()
        print(f"on disk {found.bytes / 1e6:.0f} MB, {found.definitions} definitions")
        for what, ask in (
            ("find", lambda: index.find("ArgumentParser.parse_args")),
            ("callers", lambda: index.callers("ArgumentParser.parse_args")),
            ("text", lambda: index.search_text("unrecognized arguments")),
            ("names", lambda: index.search_identifiers("parse_arg")),
            ("similar", lambda: index.similar_definitions("parse_argz")),
            ("map of 1000 tokens", lambda: index.map(1000)),
        ):
            print(f"{what:<28} {1000 * seconds(ask)[0]:9.1f} ms")


def main() -> None:
    with tempfile.TemporaryDirectory(prefix="index-bench-") as folder:
        os.environ["DESKAGENT_HOME"] = f"{folder}/home"
        tree = Path(folder) / "tree"
        tree.mkdir()
        fill(tree)
        run(tree.resolve())


if __name__ == "__main__":
    sys.exit(main())
