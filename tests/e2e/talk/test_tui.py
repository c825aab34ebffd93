"""The app in a real terminal: the installed command, driven by real keys in tmux."""

from __future__ import annotations

import shutil
import signal
import subprocess
import time
import uuid
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

pytestmark = pytest.mark.skipif(shutil.which("tmux") is None, reason="there is no tmux")
PATIENCE = 90.0
READ = [["think", "Let me look."], ["call", ["read", {"path": "calc.py"}]]]
EDIT = [["call", ["edit", {"path": "calc.py", "old": "a - b", "new": "a + b"}]]]
SAID = [["text", "It **adds** now."]]


@dataclass
class Screen:
    """A shell in a tmux of its own. name: of tmux's socket."""

    name: str

    def tmux(self, *words: str) -> str:
        done = subprocess.run(["tmux", "-L", self.name, *words], capture_output=True, text=True)
        return done.stdout

    def text(self) -> str:
        return self.tmux("capture-pane", "-p")

    def keys(self, *keys: str) -> None:
        self.tmux("send-keys", *keys)

    def type(self, text: str) -> None:
        self.tmux("send-keys", "-l", text)

    def send(self, text: str) -> None:
        """Types a line, and sends it once it stands there."""
        self.type(text)
        self.shows(text[-20:])
        self.keys("Enter")

    def shows(self, text: str, *, gone: bool = False) -> None:
        end = time.monotonic() + PATIENCE
        while (text in self.text()) is gone:
            assert time.monotonic() < end, f"{'still' if gone else 'never'} {text!r} on\n{self.text()}"
            time.sleep(0.1)

    def answer(self, key: str, question: str) -> None:
        """Until it counts: keys that come with a question don't."""
        end = time.monotonic() + PATIENCE
        while question in self.text():
            assert time.monotonic() < end, self.text()
            self.keys(key)
            time.sleep(0.3)

    def pid(self) -> int:
        """Of the command that the shell runs."""
        shell = self.tmux("display-message", "-p", "#{pane_pid}").strip()
        found = subprocess.run(["pgrep", "-P", shell], capture_output=True, text=True).stdout.split()
        return int(found[0])


def runs(pid: int) -> bool:
    try:
        return "State:\tZ" not in Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return False


@pytest.fixture
def screen(agent, project: Path, tmp_path: Path) -> Iterator[Screen]:
    """A shell in the project's folder, 100×30."""
    made = Screen(f"deskagent-{uuid.uuid4().hex[:8]}")
    env = agent.env(TERM="xterm-256color", PS1="$ ", DESKAGENT=agent.command[0])
    env.pop("TMUX", None)
    start = ["new-session", "-d", "-x", "100", "-y", "30", "-c", str(project), "bash --norc --noprofile"]
    subprocess.run(["tmux", "-L", made.name, "-f", "/dev/null", *start], env=env, check=True, cwd=project)
    yield made
    made.tmux("kill-server")


def test_a_bug_is_mended_in_the_app_and_the_terminal_is_as_before(screen, serve, project: Path) -> None:
    serve(READ, EDIT, SAID)
    before = "stty -a | md5sum > ../before"
    screen.send(before)
    screen.send('"$DESKAGENT"')
    screen.shows("stand/in")
    screen.send("mend add")
    screen.shows("Make this change?")
    screen.answer("y", "Make this change?")
    screen.shows("It adds now.")
    screen.shows("cached 60%")
    assert "a + b" in (project / "calc.py").read_text()
    screen.keys("C-d")
    screen.shows("To go on: deskagent -r")
    screen.send("stty -a | md5sum > ../after; echo left")
    screen.shows("\nleft")
    assert (project.parent / "before").read_text() == (project.parent / "after").read_text()


def test_resized_over_and_over_it_stays_whole(screen, serve) -> None:
    serve([["text", "# Title\n\n" + "word " * 300 + "\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\nThe end."]], SAID)
    screen.send('"$DESKAGENT"')
    screen.shows("stand/in")
    screen.send("write much")
    for step in range(40):
        screen.tmux("resize-window", "-x", str(40 + step * 37 % 180), "-y", str(10 + step * 13 % 60))
    screen.tmux("resize-window", "-x", "100", "-y", "30")
    screen.shows("The end.")
    screen.send("and so on")
    screen.shows("It adds now.")
    screen.keys("C-d")
    screen.shows("To go on")


def test_killed_it_opens_again_at_the_same_place(screen, serve) -> None:
    serve(SAID)
    screen.send('"$DESKAGENT"')
    screen.shows("stand/in")
    screen.send("mend add")
    screen.shows("It adds now.")
    subprocess.run(["kill", "-9", str(screen.pid())], check=True)
    screen.shows("Killed")
    screen.send("reset; clear")
    screen.shows("It adds now.", gone=True)
    screen.send('"$DESKAGENT" -c')
    screen.shows("It adds now.")
    screen.shows("mend add")


def test_what_waited_when_it_was_killed_waits_again_and_is_sent_once(screen, serve) -> None:
    server = serve([["text", "Begun."], ["pause", 600]], SAID)
    screen.send('"$DESKAGENT"')
    screen.shows("stand/in")
    screen.send("mend add")
    screen.shows("Begun.")
    screen.type("and then sub")
    screen.keys("M-q")
    screen.shows("1 queued")
    subprocess.run(["kill", "-9", str(screen.pid())], check=True)
    screen.shows("Killed")
    screen.send("reset; clear")
    screen.shows("Begun.", gone=True)
    screen.send('"$DESKAGENT" -c')
    screen.shows("A message of yours waited")
    screen.shows("1 queued")
    screen.keys("Enter")
    screen.shows("It adds now.")
    screen.shows("queued", gone=True)
    assert len(server.asked) == 2 and str(server.asked[-1]).count("and then sub") == 1


def test_told_to_end_it_leaves_the_terminal_whole(screen, serve) -> None:
    serve(SAID)
    screen.send('"$DESKAGENT"')
    screen.shows("stand/in")
    subprocess.run(["kill", f"-{int(signal.SIGTERM)}", str(screen.pid())], check=True)
    screen.shows("To go on")
    screen.send("echo code $?")
    screen.shows("code 143")


def test_a_terminal_that_goes_away_takes_the_app_with_it(screen, serve) -> None:
    serve(SAID)
    screen.send('"$DESKAGENT"')
    screen.shows("stand/in")
    app = screen.pid()
    screen.tmux("kill-server")
    end = time.monotonic() + PATIENCE
    while runs(app):
        assert time.monotonic() < end, "it is still there"
        time.sleep(0.2)


def test_a_dead_server_is_told_and_the_conversation_stays(screen, serve, agent) -> None:
    serve(SAID)
    models = agent.home / "config" / "models.toml"
    models.write_text(
        'default = "stand/in"\n["stand/in"]\ndialect = "vllm"\nbase = "http://127.0.0.1:9/v1"\n'
    )
    screen.send('"$DESKAGENT"')
    screen.shows("stand/in")
    screen.send("mend add")
    screen.shows("once more in")
    screen.keys("Escape")
    screen.shows("interrupted")
    screen.send("still there")
    screen.shows("still there")


def test_without_a_model_there_is_a_tour(screen) -> None:
    screen.send('"$DESKAGENT"')
    screen.shows("deskagent model add")
    screen.keys("C-d")
    screen.shows("deskagent model add", gone=True)
