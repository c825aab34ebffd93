"""What a run has imported when it first asks a model."""

from __future__ import annotations

import sys
from pathlib import Path

HEAVY = {
    "torch",
    "numpy",
    "openai",
    "anthropic",
    "llama_cpp",
    "tokenizers",
    "transformers",
    "huggingface_hub",
    "litellm",
    "mcp",
    "rich",
    "textual",
    "PIL",
    "trafilatura",
    "lxml",
    "pexpect",
    "watchdog",
    "tree_sitter_python",
    "deskagent.imports",
    "deskagent.agent.fix",
    "deskagent.repair.search",
    "deskagent.repair.rank",
    "engine",
    "kernels",
}
WATCHED = """
import sys
asked = False
def hook(event, given):
    global asked
    if event == "socket.connect" and not asked and isinstance(given[1], tuple) and given[1][1] == {port}:
        asked = True
        open({out!r}, "w").write("\\n".join(list(sys.modules)))
sys.addaudithook(hook)
sys.argv = ["deskagent", "run", "-p", "hi"]
from deskagent.cli import main
sys.exit(main())
"""


def test_nothing_heavy_is_imported_before_the_first_request(
    agent, serve, project: Path, tmp_path: Path
) -> None:
    server = serve([["text", "Hello."]])
    out = tmp_path / "modules"
    done = agent.run([sys.executable, "-c", WATCHED.format(port=server.port, out=str(out))], project)
    assert done.code == 0, done.stderr
    assert len(server.asked) == 1
    loaded = set(out.read_text().split("\n"))
    assert "deskagent.agent.converse.talk" in loaded
    assert not HEAVY & loaded
