"""From the start of a command to its first request at a model's server: ours and others', in turns in one run.

    bench/first_request.py [--rounds N] [--rivals DIR]

DIR holds a virtual environment a rival: DIR/kimi, DIR/vibe, DIR/aider; what isn't there is left out. Each has settings
of its own that name a stand-in server and nothing else. Prints the median and the best time of each, and our median
against the fastest rival's.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

CEILING = 20.0
_KIMI = """default_model = "m"
[models.m]
provider = "p"
model = "x"
max_context_size = 100000
[providers.p]
type = "openai_legacy"
base_url = "{base}"
api_key = "k"
"""
_VIBE = """active_model = "m"
enable_telemetry = false
enable_update_checks = false
[[providers]]
name = "p"
api_base = "{base}"
api_key_env_var = "OPENAI_API_KEY"
api_style = "openai"
backend = "generic"
[[models]]
name = "x"
provider = "p"
alias = "m"
"""
_OURS = 'default = "stand/in"\n["stand/in"]\ndialect = "vllm"\nbase = "{base}"\n'
_AIDER = (
    "--model openai/x --message hi --yes-always --no-git --no-check-update --analytics-disable "
    "--no-show-model-warnings --no-show-release-notes --no-gitignore --no-pretty --map-tokens 0"
)
SETTINGS = {
    "deskagent": ("ours/config/models.toml", _OURS),
    "kimi": ("kimi/config.toml", _KIMI),
    "vibe": ("vibe/config.toml", _VIBE),
    "aider": ("aider/none", ""),
}


class Server(ThreadingHTTPServer):
    """seen: is set when something asks a model; at: when."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.seen, self.at = threading.Event(), 0.0
        threading.Thread(target=self.serve_forever, daemon=True).start()


class _Handler(BaseHTTPRequestHandler):
    def log_message(self, format: str, *args: object) -> None:
        pass

    def do_GET(self) -> None:
        self._say(b'{"object":"list","data":[{"id":"x","object":"model"}]}', "application/json")

    def do_POST(self) -> None:
        now = time.perf_counter()
        server = self.server
        assert isinstance(server, Server)
        asked = json.loads(self.rfile.read(int(self.headers.get("content-length", 0))) or b"{}")
        if "messages" in asked and not server.seen.is_set():
            server.at = now
            server.seen.set()
        chunk = {"id": "a", "object": "chat.completion.chunk", "created": 1, "model": "x"}
        chunk["choices"] = [
            {"index": 0, "delta": {"role": "assistant", "content": "hi"}, "finish_reason": "stop"}
        ]
        self._say(f"data: {json.dumps(chunk)}\n\ndata: [DONE]\n\n".encode(), "text/event-stream")

    def _say(self, body: bytes, kind: str) -> None:
        self.send_response(200)
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


def commands(rivals: Path) -> dict[str, list[str]]:
    """Those that are installed, by name."""
    ours = Path(sys.executable).with_name("deskagent")
    every = {
        "deskagent": [str(ours), "run", "-p", "hi"],
        "kimi": [str(rivals / "kimi/bin/kimi"), "--print", "--prompt", "hi"],
        "vibe": [str(rivals / "vibe/bin/vibe"), "--trust", "-p", "hi"],
        "aider": [str(rivals / "aider/bin/aider"), *_AIDER.split()],
    }
    return {name: words for name, words in every.items() if Path(words[0]).is_file()}


def first(server: Server, words: list[str], env: dict[str, str], cwd: Path) -> float | None:
    """Seconds to the first request, None where none came."""
    server.seen.clear()
    began = time.perf_counter()
    null = subprocess.DEVNULL
    child = subprocess.Popen(words, env=env, cwd=cwd, stdin=null, stdout=null, stderr=null)
    seen = server.seen.wait(CEILING)
    try:
        child.wait(10)
    except subprocess.TimeoutExpired:
        child.kill()
        child.wait()
    return server.at - began if seen else None


def main() -> None:
    asked = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    asked.add_argument("--rounds", type=int, default=5)
    asked.add_argument("--rivals", type=Path, default=Path("rivals"))
    given = asked.parse_args()
    server = Server()
    base = f"http://127.0.0.1:{server.server_address[1]}/v1"
    with tempfile.TemporaryDirectory() as folder:
        top = Path(folder)
        for path, text in SETTINGS.values():
            (top / path).parent.mkdir(parents=True, exist_ok=True)
            (top / path).write_text(text.format(base=base))
        project = top / "project"
        project.mkdir()
        env = {name: value for name, value in os.environ.items() if name in ("PATH", "LANG", "TERM")}
        env |= {
            "HOME": str(top),
            "DESKAGENT_HOME": str(top / "ours"),
            "KIMI_SHARE_DIR": str(top / "kimi"),
            "KIMI_CLI_NO_AUTO_UPDATE": "1",
            "VIBE_HOME": str(top / "vibe"),
            "OPENAI_API_BASE": base,
            "OPENAI_API_KEY": "k",
            "LITELLM_LOCAL_MODEL_COST_MAP": "True",  # aider asks the net for prices else
        }
        times: dict[str, list[float]] = {}
        for number in range(given.rounds + 1):
            for name, words in commands(given.rivals).items():
                took = first(server, words, env, project)
                if number and took is not None:  # the first round fills caches
                    times.setdefault(name, []).append(took)
    for name, took in sorted(times.items(), key=lambda item: statistics.median(item[1])):
        print(
            f"{name:<10} median {statistics.median(took):6.3f} s   best {min(took):6.3f} s   of {len(took)}"
        )
    others = {name: statistics.median(took) for name, took in times.items() if name != "deskagent"}
    if others and "deskagent" in times:
        fastest = min(others, key=lambda name: others[name])
        ratio = statistics.median(times["deskagent"]) / others[fastest]
        print(f"ours / {fastest}: {ratio:.2f}   (goal: at most 0.5)")


if __name__ == "__main__":
    main()
