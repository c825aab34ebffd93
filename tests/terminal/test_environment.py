"""What children get of our environment."""

import subprocess

import pytest

from deskagent.terminal.environment import base_env

SECRETS = [
    "OPENAI_API_KEY", "GITHUB_TOKEN", "AWS_SECRET_ACCESS_KEY", "DATABASE_URL", "SSH_AUTH_SOCK", "GPG_AGENT_INFO",
    "DBUS_SESSION_BUS_ADDRESS", "XDG_RUNTIME_DIR", "TMUX", "DISPLAY", "HTTPS_PROXY", "PIP_INDEX_URL",
]  # fmt: skip
STARTERS = ["LD_PRELOAD", "LD_AUDIT", "BASH_ENV", "ENV", "PYTHONSTARTUP", "PYTHONHOME", "PERL5OPT", "NODE_OPTIONS",
            "RUBYOPT", "GIT_SSH_COMMAND", "GIT_CONFIG_COUNT", "GIT_DIR", "PROMPT_COMMAND"]  # fmt: skip


@pytest.mark.parametrize("name", SECRETS + STARTERS)
def test_dropped(monkeypatch, name):
    monkeypatch.setenv(name, "canary")
    assert "canary" not in base_env().values()


@pytest.mark.parametrize(
    "name", ["HOME", "LC_ALL", "VIRTUAL_ENV", "PYTHONPATH", "GOPATH", "JAVA_HOME", "NVM_DIR"]
)
def test_kept(monkeypatch, name):
    monkeypatch.setenv(name, "canary")
    assert base_env()[name] == "canary"


@pytest.mark.parametrize(
    "name", ["PAGER", "GIT_PAGER", "EDITOR", "VISUAL", "GIT_EDITOR", "GIT_TERMINAL_PROMPT"]
)
def test_answered_beforehand(monkeypatch, name):
    monkeypatch.setenv(name, "canary")
    assert base_env()[name] in ("cat", "false", "0")


def test_relative_search_paths_are_dropped(monkeypatch):
    monkeypatch.setenv("PATH", "node_modules/.bin:/usr/bin::.:/bin")
    assert base_env()["PATH"] == "/usr/bin:/bin"


@pytest.mark.parametrize("path", ["", ".", None])
def test_there_is_always_a_search_path(monkeypatch, path):
    if path is None:
        monkeypatch.delenv("PATH")
    else:
        monkeypatch.setenv("PATH", path)
    assert subprocess.run(["env", "true"], env=base_env(), check=False).returncode == 0


def test_what_is_asked_for_wins():
    env = base_env({"PAGER": "less", "NEW": "x"}, pty=True)
    assert (env["PAGER"], env["NEW"], env["TERM"]) == ("less", "x", "xterm-256color")
