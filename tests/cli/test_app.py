from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from deskagent import __version__
from deskagent.cli.app import COMMANDS

FORMATS = ("text", "json", "stream-json")
TOOL = Path(sys.executable).with_name("deskagent")


def run(*args: str, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    return subprocess.run([TOOL, *args], capture_output=True, text=True, cwd=cwd)


@pytest.mark.parametrize("flag", ["--version", "-V"])
def test_version(flag: str) -> None:
    done = run(flag)
    assert (done.returncode, done.stdout, done.stderr) == (0, f"deskagent {__version__}\n", "")


def test_version_imports_next_to_nothing() -> None:
    code = "import sys; sys.argv[1:] = ['-V']; from deskagent.cli import main; main(); print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "deskagent.cli" in done.stdout
    assert not {"click", "rich", "msgspec", "asyncio"} & set(done.stdout.split())


def test_help_names_every_command() -> None:
    done = run("--help")
    assert done.returncode == 0
    assert all(name in done.stdout for name in COMMANDS)


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_help(name: str) -> None:
    done = run(name, "--help")
    assert done.returncode == 0, done.stderr
    assert name in done.stdout


@pytest.mark.parametrize(
    "args",
    [
        ["nonsense"],
        ["fix", "x", "--nonsense"],
        ["fix", "x", "--effort", "huge"],
        ["fix", "x", "--max-seconds", "0"],
        ["fix", "x", "--max-seconds", "-1"],
        ["fix", "x", "--max-seconds", "nan"],
        ["fix", "x", "--max-candidates", "0"],
        ["fix", "x", "--output-format", "xml"],
        ["fix", "x", "--permission-mode", "yolo"],
        ["fix", "two", "requests"],
        ["trust", "/no/such/folder"],
    ],
    ids=" ".join,
)
def test_bad_usage_is_exit_2_with_a_word_on_stderr(args: list[str], tmp_path: Path) -> None:
    done = run(*args, cwd=tmp_path)
    assert done.returncode == 2
    assert done.stdout == ""
    assert "Error" in done.stderr


def test_bad_usage_that_shows_late_still_ends_the_stream_with_a_result(tmp_path: Path) -> None:
    done = run("fix", "-c", "-r", "some-session", "--output-format", "stream-json", cwd=tmp_path)
    last = json.loads(done.stdout.splitlines()[-1])
    assert (done.returncode, last["type"], last["exit_code"]) == (2, "result", 2)
    assert "-c" in last["error"]["message"]


@pytest.mark.parametrize(
    "words",
    [["--nonsense"], ["--effort", "huge"], ["--max-seconds", "nan"], ["y"], ["--max-candidates"]],
    ids=" ".join,
)
@pytest.mark.parametrize("format_", [["--output-format", "stream-json"], ["--output-format=json"]])
def test_options_that_cannot_be_read_end_the_stream_with_a_result(
    words: list[str], format_: list[str], tmp_path: Path
) -> None:
    done = run("fix", "x", *format_, *words, cwd=tmp_path)
    (line,) = done.stdout.splitlines()
    result = json.loads(line)
    assert (done.returncode, result["type"], result["status"], result["exit_code"]) == (
        2,
        "result",
        "error",
        2,
    )
    assert result["error"]["message"] in done.stderr


def test_a_home_that_cannot_be_made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DESKAGENT_HOME", "/proc/nope")
    for args in (["fix", "x", "--test", "true"], ["index", "build"], ["trust"]):
        done = run(*args, cwd=tmp_path)
        assert done.returncode == 2, (args, done.stderr)
        assert "DESKAGENT_HOME" in done.stderr
        assert "Traceback" not in done.stderr


def test_a_reader_that_goes_away_ends_the_stream_quietly(tmp_path: Path) -> None:
    script = f'"{TOOL}" fix x --test true --output-format stream-json; echo "code $?" >&2'
    done = subprocess.run(
        ["bash", "-c", f"{{ {script}; }} | head -c 1"], capture_output=True, text=True, cwd=tmp_path
    )
    # What was written before the reader was gone may be all there was.
    assert done.stderr in ("code 141\n", "code 0\n"), done.stderr


@pytest.mark.parametrize("closed", ["<&-", ">&-", "2>&-", "<&- >&- 2>&-"])
@pytest.mark.parametrize("format_", ["text", "stream-json"])
def test_closed_standard_streams(tmp_path: Path, closed: str, format_: str) -> None:
    script = f'"{TOOL}" fix x --test true --output-format {format_} {closed}'
    assert subprocess.run(["sh", "-c", script], capture_output=True, cwd=tmp_path).returncode == 0


@pytest.mark.parametrize(
    "args", [["doctor"], *(["fix", "x", "--test", "true", "--output-format", f] for f in FORMATS)]
)
def test_a_full_disk_under_stdout(args: list[str], tmp_path: Path) -> None:
    with Path("/dev/full").open("w") as full:
        done = subprocess.run([TOOL, *args], stdout=full, stderr=subprocess.PIPE, text=True, cwd=tmp_path)
    assert done.returncode == 75
    assert "No space left" in done.stderr
    assert "Traceback" not in done.stderr


def test_settings_that_cannot_be_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("DESKAGENT_HOME", str(tmp_path / "file"))
    for args in (["trust", str(tmp_path)], ["fix", "x", "--test", "true"]):
        done = run(*args, cwd=tmp_path)
        assert done.returncode == 2, done.stderr
        assert "DESKAGENT_HOME" in done.stderr
        assert "Traceback" not in done.stderr


@pytest.mark.parametrize("args", ["fix x", "sessions list", "undo", "verify"])
def test_a_working_folder_that_is_gone(args: str, tmp_path: Path) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    script = f'rmdir ../gone && exec "$0" {args}'
    done = subprocess.run(["sh", "-c", script, TOOL], capture_output=True, text=True, cwd=gone)
    assert done.returncode == 2
    assert done.stdout == ""
    assert "gone" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_trusted_folder_with_a_hostile_name_is_shown_inert(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DESKAGENT_HOME", str(tmp_path / "home"))
    folder = tmp_path / "a\x1b]0;b\x07c"
    folder.mkdir()
    for args in (["trust", str(folder)], ["trust", "--list"], ["trust", str(folder), "--remove"]):
        done = run(*args)
        assert done.returncode == 0
        assert "c" in done.stdout
        assert not set(done.stdout) & set("\x1b\x07")
