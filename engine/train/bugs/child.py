"""Runs copies of one module with bugs in them, in a process of its own; the standard library alone.

stdin: {"root", "module", "path", "text", "functions": [{"name", "groups": [[source, …], …], "mutants": [text, …]}]};
a group's sources are run one after the other in the same names. stdout: a line of JSON for every bug that shows.
"""

from __future__ import annotations

import ast
import json
import os
import resource
import signal
import sys
import traceback
import types
import warnings

_SECONDS, _PATIENCE, _MEMORY, _LONGEST = 1.5, 60, 500 << 20, 90
"""Of the processor, of the clock; bytes; characters of a value."""
_PLAIN = (int, float, str, bytes, bool, type(None), list, tuple, dict, complex)


def main() -> None:
    warnings.simplefilter("ignore")
    given = json.load(sys.stdin)
    out = os.dup(1)
    quiet = os.open(os.devnull, os.O_RDWR)
    os.dup2(quiet, 1)
    os.dup2(quiet, 2)
    # nothing may be filled or eaten up by code that has a bug; what it may reach is kept small by what is run at all
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
    resource.setrlimit(resource.RLIMIT_AS, (_MEMORY, _MEMORY))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    sys.path.append(given["root"])
    for function in given["functions"]:
        meant = forked(lambda function=function: expected(given, given["text"], function["groups"]))
        again = forked(lambda function=function: expected(given, given["text"], function["groups"]))
        if not isinstance(meant, list) or meant != again:
            continue
        for number, text in enumerate(function["mutants"]):
            seen = forked(lambda text=text, meant=meant: first_difference(given, text, meant))
            if seen == "timeout":
                seen = {"source": meant[0][-1][0], "kind": "timeout"} if len(meant) == 1 else None
            if isinstance(seen, dict):
                said = json.dumps({"function": function["name"], "mutant": number, **seen}) + "\n"
                os.write(out, said.encode())


def forked(work):
    """What work gives, done in a process that ends with it; "timeout", or None where it died."""
    reading, writing = os.pipe()
    pid = os.fork()
    if not pid:
        # by the processor's time, so that a busy machine makes no bug of what is right; the clock ends what waits
        signal.setitimer(signal.ITIMER_PROF, _SECONDS)
        signal.alarm(_PATIENCE)
        try:
            os.close(reading)
            os.write(writing, json.dumps(work()).encode()[:60_000])
        finally:
            os._exit(0)
    os.close(writing)
    with os.fdopen(reading, "rb") as said:
        got = said.read()
    _, status = os.waitpid(pid, 0)
    if os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGPROF:
        return "timeout"
    try:
        return json.loads(got)
    except ValueError:
        return None


def loaded(given, text):
    module = types.ModuleType(given["module"])
    module.__file__ = given["path"]
    whole = given["path"].endswith("__init__.py")
    module.__package__ = given["module"] if whole else given["module"].rpartition(".")[0]
    sys.modules[given["module"]] = module
    exec(compile(text, given["path"], "exec"), module.__dict__)
    return module.__dict__


def expected(given, text, groups):
    """Groups of [source, value as text or None, exception's name or None]; a group ends where one can't be used."""
    names = loaded(given, text)
    found = []
    for group in groups:
        inside = dict(names)
        kept = []
        for source in group:
            value, error = run(source, inside)
            if error is not None:
                frames = lines_of(error, given["path"], text)
                own = bool(frames) and frames[-1].startswith("raise ")
                if own and type(error).__module__ == "builtins":
                    kept.append([source, None, type(error).__name__])
                break
            if value is not None and (len(value) > _LONGEST or " at 0x" in value):
                value = None
            kept.append([source, value, None])
        if kept:
            found.append(kept)
    return found


def first_difference(given, text, meant):
    try:
        names = loaded(given, text)
    except Exception as error:  # a bug may break its module in any way
        return failed("import " + given["module"], error, given, text)
    for group in meant:
        inside = dict(names)
        for source, value, raises in group:
            got, error = run(source, inside)
            if error is not None and type(error).__name__ != raises:
                return failed(source, error, given, text)
            if raises is not None and error is None:
                return {"source": source, "kind": "raises", "expected": raises}
            if value is not None and got is not None and differ(got, value):
                return {"source": source, "kind": "value", "expected": value, "actual": got[:200]}
    return None


def differ(one, two):
    """Whether an assertion that both are equal fails: 2 is 2.0, and a dictionary's order says nothing."""
    try:
        return one != two and ast.literal_eval(one) != ast.literal_eval(two)
    except (ValueError, SyntaxError, RecursionError, MemoryError):
        return one != two


def run(source, names):
    """(value as text, None), (None, None) of a statement, or (None, exception)."""
    try:
        try:
            code = compile(source, "<test>", "eval")
        except SyntaxError:
            exec(compile(source, "<test>", "exec"), names)
            return None, None
        value = eval(code, names)
        return (repr(value) if isinstance(value, _PLAIN) else None), None
    except MemoryError:
        os._exit(0)
    except Exception as error:
        return None, error


def failed(source, error, given, text):
    return {
        "source": source,
        "kind": "error",
        "frames": lines_of(error, given["path"], text)[-6:],
        "names": [
            each.name for each in traceback.extract_tb(error.__traceback__) if each.filename == given["path"]
        ][-6:],
        "error": f"{type(error).__name__}: {error}".rstrip(": ")[:200],
    }


def lines_of(error, path, text):
    every = text.split("\n")
    frames = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == path]
    return [every[number - 1].strip() for number in frames if number and number <= len(every)]


if __name__ == "__main__":
    main()
