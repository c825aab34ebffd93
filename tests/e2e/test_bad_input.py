"""Projects, commands and machines that are not as they should be: a clear message or a clean recovery."""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import subprocess
import sys
import sysconfig
import time
from pathlib import Path

import pytest

from deskagent.terminal.sandbox import find_sandbox
from deskagent.terminal.types import Rung

BUGGY = "def add(a, b):\n    return a - b\n"
TEST = (
    "from calc import add\n\n\ndef test_add():\n    assert add(1, 2) == 3\n"
    "\n\ndef test_zero():\n    assert add(0, 0) == 0\n"
)
FILES = {"calc.py": BUGGY, "test_calc.py": TEST}
WORDS = ("add subtracts", "--test", "python -m pytest -q", "--max-candidates", "40")


def clear(done, code):
    """The exit code, the same in the result, and words for a person in place of a traceback."""
    assert done.code == code, (done.stdout, done.stderr)
    assert done.result["exit_code"] == code
    assert "Traceback" not in done.stderr
    if code in (2, 75):
        assert done.result["status"] == "error"
        assert done.result["error"]["message"]
    return done.result


def adds(source: str) -> bool:
    """Whether calc.py's text is a repair; there is more than one way to write it."""
    names: dict = {}
    exec(source, names)
    return source != BUGGY and [names["add"](a, b) for a, b in ((1, 2), (0, 0), (-5, 9))] == [3, 0, 4]


def mounted(*commands: str) -> list[str]:
    """The start of a command that runs in a mount namespace of its own after `commands`; skips where it can't."""
    if shutil.which("unshare") is None:
        pytest.skip("no unshare")
    script = " && ".join([*commands, 'exec "$@"'])
    words = ["unshare", "--mount", "--propagation", "private", "sh", "-c", script, "sh"]
    probe = subprocess.run([*words, "true"], capture_output=True, text=True, check=False)
    if probe.returncode:
        pytest.skip(f"no own mounts here: {probe.stderr.strip()[-200:]}")
    return words


def test_nothing_fails(agent, project, snapshot):
    folder = project({**FILES, "calc.py": BUGGY.replace("-", "+")})
    before = snapshot(folder)
    result = clear(agent.fix(*WORDS, cwd=folder), 0)
    assert result["status"] == "nothing_to_fix"
    assert result["patch"] is None
    assert snapshot(folder) == before


def test_no_test_is_found(agent, project, snapshot):
    """unittest before Python 3.12 calls that OK."""
    folder = project({"calc.py": BUGGY, "sub/keep.txt": "1\n"})
    before = snapshot(folder)
    result = clear(agent.fix("x", "--test", "python -m unittest -q", cwd=folder / "sub"), 2)
    assert "python -m unittest -q" in result["error"]["message"]
    assert snapshot(folder) == before


@pytest.mark.parametrize("command", ["no-such-runner-at-all -q", "./missing.sh"])
def test_command_does_not_exist(agent, project, snapshot, command):
    folder = project(FILES)
    before = snapshot(folder)
    result = clear(agent.fix("x", "--test", command, cwd=folder), 2)
    assert command.split()[0] in result["error"]["message"]
    assert snapshot(folder) == before


def test_command_hangs(agent, project, snapshot, leftovers):
    folder = project({**FILES, "test_calc.py": "import time\n\n\ndef test_hang():\n    time.sleep(3600)\n"})
    before = snapshot(folder)
    start = time.monotonic()
    clear(agent.fix(*WORDS, "--max-seconds", "4", cwd=folder), 53)
    assert time.monotonic() - start < 120
    assert snapshot(folder) == before
    assert leftovers() == []


def test_a_hang_leaves_a_part_of_the_time_to_try_edits(agent, project, snapshot, leftovers):
    hang = "from calc import add\n\n\ndef test_hang():\n    while add(1, 2):\n        pass\n"
    folder = project({**FILES, "test_calc.py": hang})
    before = snapshot(folder)
    done = agent.fix("hangs", *WORDS[1:3], "--max-seconds", "90", "--max-candidates", "1", cwd=folder)
    result = clear(done, 53)
    assert result["candidates"] == 1
    assert result["seconds"] < 90
    assert snapshot(folder) == before
    assert leftovers() == []


def test_a_limit_that_leaves_no_time_is_said(agent, project, snapshot):
    slow = "import time\nfrom calc import add\n\n\ndef test_slow():\n    time.sleep(3)\n    assert add(1, 2) == 3\n"
    folder = project({**FILES, "test_calc.py": slow})
    before = snapshot(folder)
    done = agent.fix(*WORDS, "--max-seconds", "1", cwd=folder)
    result = clear(done, 53)
    assert (result["status"], result["candidates"]) == ("limit", 0)
    assert any("limit of 1 s left no time to try an edit" in said for said in result["notices"])
    assert snapshot(folder) == before


def test_command_kills_its_parent(agent, project, snapshot, leftovers):
    if find_sandbox().rung is Rung.NONE:
        pytest.skip("without a sandbox the parent is deskagent itself")
    killer = "import os, signal\n\n\ndef test_kill():\n    os.kill(os.getppid(), signal.SIGKILL)\n    assert False\n"
    folder = project({"test_kill.py": killer, **FILES})
    before = snapshot(folder)
    done = agent.fix(*WORDS, "--max-seconds", "15", cwd=folder)
    assert done.code in (1, 2, 53), (done.stdout, done.stderr)
    assert done.result["exit_code"] == done.code
    assert "Traceback" not in done.stderr
    assert snapshot(folder) == before
    assert leftovers() == []


def test_command_prints_a_gigabyte(agent, project, snapshot):
    folder = project(FILES)
    before = snapshot(folder)
    noisy = "head -c 1000000000 /dev/zero; exit 3"
    done = agent.fix("x", "--test", noisy, "--max-candidates", "1", "--max-seconds", "60", cwd=folder)
    assert done.code in (1, 53), (done.stdout[-2000:], done.stderr[-2000:])
    assert len(done.stdout) < 1_000_000
    assert snapshot(folder) == before
    kept = sum(path.stat().st_size for path in agent.home.rglob("*") if path.is_file())
    assert kept < 200_000_000


def test_syntax_error_in_what_is_tested(agent, project, snapshot):
    folder = project({**FILES, "calc.py": "def add(a, b)\n    return a + b\n"})
    before = snapshot(folder)
    done = agent.fix(*WORDS, "--max-seconds", "20", cwd=folder)
    assert done.code in (0, 1, 53), (done.stdout, done.stderr)
    assert "Traceback" not in done.stderr
    if done.code:
        assert snapshot(folder) == before


def test_syntax_error_elsewhere(agent, project):
    folder = project({**FILES, "half_written.py": "class Later(:\n", "blob.py": b"\x00\xff\xfe"})
    clear(agent.fix(*WORDS, cwd=folder), 0)
    assert adds((folder / "calc.py").read_text())
    assert (folder / "half_written.py").read_text() == "class Later(:\n"


def test_no_git_unborn_head(agent, project, git):
    folder = project(FILES, commit=False)
    clear(agent.fix(*WORDS, cwd=folder), 0)
    assert adds((folder / "calc.py").read_text())
    assert sorted(git(folder, "status", "--porcelain").split()) == ["??", "??", "calc.py", "test_calc.py"]


def test_dirty_tree(agent, project, git):
    folder = project({"calc.py": "def add(a, b):\n    return 0\n", "test_calc.py": TEST, "notes": "1\n"})
    (folder / "calc.py").write_text(BUGGY)
    (folder / "notes").write_text("2\n")
    (folder / "new.txt").write_text("untracked\n")
    git(folder, "add", "notes")
    staged = git(folder, "diff", "--cached")
    clear(agent.fix(*WORDS, cwd=folder), 0)
    assert adds((folder / "calc.py").read_text())
    assert git(folder, "diff", "--cached") == staged
    assert git(folder, "status", "--porcelain").splitlines() == [" M calc.py", "M  notes", "?? new.txt"]
    assert (folder / "new.txt").read_text() == "untracked\n"


def test_read_only_file(agent, project, snapshot):
    folder = project(FILES)
    (folder / "calc.py").chmod(0o444)
    before = snapshot(folder)
    done = agent.fix(*WORDS, cwd=folder)
    assert "Traceback" not in done.stderr
    assert (folder / "calc.py").stat().st_mode & 0o777 == 0o444
    if done.result["status"] == "fixed" and done.result["applied"]:
        assert adds((folder / "calc.py").read_text())
    else:
        assert done.code in (2, 75)
        assert snapshot(folder) == before


def test_read_only_mount(agent, project, snapshot):
    folder = project(FILES)
    before = snapshot(folder)
    mount = mounted(f"mount --bind '{folder}' '{folder}'", f"mount -o remount,ro,bind '{folder}'")
    done = agent.run(
        [*mount, "sh", "-c", 'cd "$0" && exec "$@"', str(folder), *agent.fix_words(*WORDS)], folder
    )
    assert done.code in (2, 75), (done.stdout, done.stderr)
    result = clear(done, done.code)
    assert "read-only" in (result["error"]["message"] + result["error"]["hint"]).lower()
    assert snapshot(folder) == before


def test_disk_full_of_sessions(agent, project, snapshot):
    folder = project(FILES)
    before = snapshot(folder)
    mount = mounted(
        f"mount -t tmpfs -o size=8k,mode=0700 none '{agent.home}'",
        f"head -c 1M /dev/zero >'{agent.home}/fill' || true",
    )
    result = clear(agent.run([*mount, *agent.fix_words(*WORDS)], folder), 75)
    assert "space" in (result["error"]["message"] + result["error"]["hint"]).lower()
    assert snapshot(folder) == before


def test_disk_full_under_the_project(agent, project, tmp_path):
    folder = project(FILES, git=False)
    disk = tmp_path / "disk"
    disk.mkdir()
    mount = mounted(
        f"mount -t tmpfs -o size=64k,mode=0700 none '{disk}'",
        f"cp '{folder}'/*.py '{disk}'",
        f"(head -c 1M /dev/zero >'{disk}/fill' || true) 2>/dev/null",
    )
    script = 'cd "$0" && "$@"; code=$?; cat calc.py >"$0.after"; ls -A >"$0.names"; exit $code'
    done = agent.run([*mount, "sh", "-c", script, str(disk), *agent.fix_words(*WORDS)], folder)
    assert "Traceback" not in done.stderr
    after = (tmp_path / "disk.after").read_text()
    assert done.code in (0, 75), (done.stdout, done.stderr)
    assert after == BUGGY if done.code else adds(after)
    assert (tmp_path / "disk.names").read_text().split() == ["calc.py", "fill", "test_calc.py"]


@pytest.mark.parametrize(
    "words",
    [
        ["fix", "x", "--effort", "huge"],
        ["fix", "x", "--max-seconds", "-1"],
        ["fix", "x", "--max-candidates", "none"],
        ["fix", "x", "--output-format", "xml"],
        ["fix", "x", "--no-such-option"],
        ["no-such-command"],
    ],
)
def test_usage(agent, project, words):
    done = agent.run([*agent.command, *words], project(FILES))
    assert done.code == 2
    assert done.stderr.strip()
    assert "Traceback" not in done.stderr


def test_detected_command_in_an_untrusted_folder(agent, project, snapshot):
    folder = project(FILES)
    before = snapshot(folder)
    result = clear(agent.fix("add subtracts", cwd=folder), 2)
    assert "--test" in result["error"]["hint"]
    assert snapshot(folder) == before


def started(child):
    """Waits until `child`, which streams its events, runs the tests."""
    for line in child.stdout:
        if json.loads(line)["type"] == "command_intent":
            return
    pytest.fail("it ended before it ran the tests")


def streaming(agent, *words):
    command = agent.fix_words(*words)
    command[command.index("json")] = "stream-json"
    return command


def test_two_runs_and_a_signal(agent, project, snapshot, leftovers):
    folder = project({**FILES, "test_calc.py": "import time\n\n\ndef test_hang():\n    time.sleep(3600)\n"})
    before = snapshot(folder)
    first = agent.start(streaming(agent, *WORDS, "--max-seconds", "200"), folder)
    try:
        started(first)
        result = clear(agent.fix(*WORDS, cwd=folder), 75)
        assert str(folder) in result["error"]["message"]
        first.send_signal(signal.SIGTERM)
        rest, errors = first.communicate(timeout=120)
    finally:
        first.kill()
    assert first.returncode == 143, errors
    last = json.loads(rest.splitlines()[-1])
    assert (last["type"], last["exit_code"]) == ("result", 143)
    assert snapshot(folder) == before
    assert leftovers() == []


@pytest.mark.parametrize("event", ["command_intent", "suspects_found", "apply_intent"])
def test_kill_at_a_random_point_after(agent, project, snapshot, leftovers, event):
    folder = project(FILES, git=False)
    before = snapshot(folder)
    child = agent.start(streaming(agent, *WORDS), folder)
    seen = []
    for line in child.stdout:
        seen.append(json.loads(line)["type"])
        if seen[-1] == event:
            break
    time.sleep(0.0 if event == "apply_intent" else random.uniform(0, 1))
    os.kill(child.pid, signal.SIGKILL)
    rest, _ = child.communicate(timeout=120)
    # what the run reported, read to its end, says which of the two the tree may be
    seen += [json.loads(line)["type"] for line in rest.splitlines() if line.endswith("}")]
    after = snapshot(folder)
    beside = [path for path in after if path.startswith(".deskagent-")]  # the new file, on its way
    assert after.keys() - beside == before.keys()
    if "apply_intent" in seen:
        source = after["calc.py"][1].decode()
        assert source == BUGGY or adds(source)
    else:
        assert after == before, seen
    deadline = time.monotonic() + 60
    while leftovers() and time.monotonic() < deadline:
        time.sleep(0.2)
    assert leftovers() == []
    clear(agent.fix(*WORDS, cwd=folder), 0)
    assert snapshot(folder).keys() == before.keys()
    assert adds((folder / "calc.py").read_text())


@pytest.mark.parametrize("active", [True, False])
def test_tests_run_by_an_environment_inside_the_project(agent, project, active):
    folder = project(FILES)
    home = folder / ".venv"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", home], check=True)
    packages = next(home.glob("lib/python*/site-packages"))
    for name in ("pytest", "_pytest", "pluggy", "iniconfig", "packaging", "pygments"):
        shutil.copytree(Path(sysconfig.get_path("purelib")) / name, packages / name)
    shutil.copy(Path(sysconfig.get_path("purelib")) / "py.py", packages)
    script = home / "bin" / "pytest"
    script.write_text(
        f"#!{home}/bin/python\nimport sys\nfrom pytest import console_main\nsys.exit(console_main())\n"
    )
    script.chmod(0o755)
    path = f"{home}/bin:/usr/bin:/bin" if active else "/usr/bin:/bin"
    result = clear(
        agent.fix("add", "--test", "pytest -q", "--max-candidates", "40", cwd=folder, PATH=path), 0
    )
    assert result["status"] == "fixed"
    assert adds((folder / "calc.py").read_text())
