"""Models brought from a hub: a small server stands in for it, since the library asks whatever HF_ENDPOINT names."""

from __future__ import annotations

import hashlib
import json
import re
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

pytest.importorskip("huggingface_hub")

from deskagent.errors import UsageError
from deskagent.providers import hub
from deskagent.providers.hub import File, Offer

COMMIT = "c" * 40
NAME = "owner/Model-GGUF"


@dataclass
class Hub:
    """files: of the one model. cut: files whose connection breaks after so many bytes, once; the hub is down after
    that. wrong: files of which other bytes of the same size are sent. ranges: what was asked for from the middle on."""

    files: dict[str, bytes]
    card: dict[str, str] = field(default_factory=dict)
    cut: dict[str, int] = field(default_factory=dict)
    wrong: set[str] = field(default_factory=set)
    ranges: list[str] = field(default_factory=list)
    down: bool = False
    port: int = 0

    def info(self) -> dict[str, object]:
        return {
            "id": NAME,
            "sha": COMMIT,
            "cardData": self.card,
            "siblings": [self._sibling(n) for n in self.files],
        }

    def _sibling(self, name: str) -> dict[str, object]:
        raw = self.files[name]
        blob = hashlib.sha1(b"blob %d\0" % len(raw) + raw).hexdigest()
        found: dict[str, object] = {"rfilename": name, "size": len(raw), "blobId": blob}
        if name.endswith((".gguf", ".safetensors")):
            found["lfs"] = {"sha256": hashlib.sha256(raw).hexdigest(), "size": len(raw), "pointerSize": 130}
        return found

    def etag(self, name: str) -> str:
        sibling = self._sibling(name)
        lfs = sibling.get("lfs")
        return str(lfs["sha256"] if isinstance(lfs, dict) else sibling["blobId"])


@pytest.fixture
def serve() -> Iterator[Callable[..., Hub]]:
    servers: list[ThreadingHTTPServer] = []

    def start(files: dict[str, bytes], **more: dict[str, str]) -> Hub:
        made = Hub(files, **more)  # type: ignore[arg-type]

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, *_: object) -> None:
                pass

            def do_HEAD(self) -> None:
                self.do_GET()

            def do_GET(self) -> None:
                if made.down:
                    self.close_connection = True
                    return
                path = self.path.partition("?")[0]
                file = re.fullmatch(rf"/{NAME}/resolve/{COMMIT}/(.+)", path)
                if re.fullmatch(rf"/api/models/{NAME}(/revision/.+)?", path):
                    self._send(json.dumps(made.info()).encode(), {"Content-Type": "application/json"})
                elif file and file[1] in made.files:
                    self._file(file[1])
                else:
                    self.send_response(404)
                    self.send_header("X-Error-Code", "RepoNotFound")
                    self.send_header("Content-Length", "0")
                    self.end_headers()

            def _file(self, name: str) -> None:
                raw = made.files[name]
                headers = {"ETag": f'"{made.etag(name)}"', "X-Repo-Commit": COMMIT, "Accept-Ranges": "bytes"}
                if name in made.wrong:
                    raw = bytes(len(raw))
                asked, status = self.headers.get("Range"), 200
                if asked and self.command == "GET":
                    made.ranges.append(asked)
                    start = int(asked.removeprefix("bytes=").partition("-")[0])
                    headers["Content-Range"] = f"bytes {start}-{len(raw) - 1}/{len(raw)}"
                    raw, status = raw[start:], 206
                self._send(raw, headers, status, made.cut.pop(name, None) if self.command == "GET" else None)

            def _send(
                self, raw: bytes, headers: dict[str, str], status: int = 200, cut: int | None = None
            ) -> None:
                self.send_response(status)
                for key, value in headers.items():
                    self.send_header(key, value)
                self.send_header("Content-Length", str(len(raw)))
                self.end_headers()
                if self.command == "GET":
                    self.wfile.write(raw if cut is None else raw[:cut])
                if cut is not None:
                    self.wfile.flush()
                    made.down = self.close_connection = True

        server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        servers.append(server)
        made.port = server.server_address[1]
        return made

    yield start
    for server in servers:
        server.shutdown()
        server.server_close()


def add(agent, project: Path, served: Hub, *words: str):
    env = {
        "HF_ENDPOINT": f"http://127.0.0.1:{served.port}",
        "HF_HUB_DISABLE_XET": "1",
        "HF_HOME": str(agent.home),
    }
    return agent.run([*agent.command, "model", "add", *words], project, **env)


def test_a_gguf_is_brought_checked_and_its_licence_shown(
    agent, project: Path, serve, gguf: Callable[..., Path]
) -> None:
    raw = gguf().read_bytes() + bytes(300_000)
    served = serve(
        {"m-Q2_K.gguf": b"GGUF", "m-Q4_K_M.gguf": raw, "README.md": b"# m"}, card={"license": "apache-2.0"}
    )
    done = add(agent, project, served, NAME)
    assert done.code == 0, done
    assert "licence: apache-2.0" in done.stderr and "each file is what" in done.stderr
    kept = agent.home / "data" / "models" / "owner--Model-GGUF" / "m-Q4_K_M.gguf"
    assert kept.read_bytes() == raw and not kept.with_name("m-Q2_K.gguf").exists()
    listed = agent.run([*agent.command, "model", "list"], project).stdout
    assert "gguf/Model-GGUF" in listed and str(kept) in listed


def test_what_broke_off_goes_on_where_it_was(agent, project: Path, serve, gguf: Callable[..., Path]) -> None:
    raw = gguf().read_bytes() + bytes(range(256)) * 12_000
    served = serve({"m.gguf": raw})
    folder = agent.home / "data" / "models" / "owner--Model-GGUF"
    served.cut["m.gguf"] = 2_500_000
    first = add(agent, project, served, "my/own", f"hf:{NAME}")
    assert first.code == 75 and "goes on from there" in first.stderr, first
    served.down = False
    second = add(agent, project, served, "my/own", f"hf:{NAME}")
    assert second.code == 0, second
    assert (folder / "m.gguf").read_bytes() == raw
    assert served.ranges[-1] == f"bytes={2 << 20}-", "the rest alone was asked for"


@pytest.mark.parametrize("name", ["m.gguf", "README.md"])
def test_a_wrong_file_is_refused_and_removed(agent, project: Path, serve, gguf, name: str) -> None:
    served = serve({"m.gguf": gguf().read_bytes(), "README.md": b"# m"})
    served.wrong.add(name)
    done = add(agent, project, served, NAME)
    assert done.code == 2 and f"{name} isn't what the hub's list says" in done.stderr
    assert not (agent.home / "data" / "models" / "owner--Model-GGUF" / name).exists()
    assert not (agent.home / "config" / "models.toml").exists()


def test_a_licence_of_its_own_is_asked_for_before_the_weights_come(agent, project: Path, serve, gguf) -> None:
    card = b"---\nlicense: other\nlicense_name: its-own\n---\n"
    served = serve({"m.gguf": gguf().read_bytes(), "README.md": card}, card={"license_name": "its-own"})
    refused = add(agent, project, served, NAME)
    assert refused.code == 2 and "its-own" in refused.stderr and "--accept-license" in refused.stderr
    assert not [file for file in agent.home.rglob("*") if "m.gguf" in file.name]
    assert add(agent, project, served, NAME, "--accept-license").code == 0
    assert add(agent, project, served, NAME).code == 0, "agreed before"


def test_a_name_that_there_is_not_is_told(agent, project: Path, serve) -> None:
    done = add(agent, project, serve({}), "owner/Other")
    assert done.code == 2 and "owner/Other" in done.stderr and "URL" in done.stderr


def offered(*names: str, size: int = 9) -> Offer:
    return Offer(NAME, COMMIT, "mit", tuple(File(name, size, "0" * 64, "") for name in names))


def test_which_files_are_wanted() -> None:
    parts = offered("q8/m-Q8_0-00002-of-00002.gguf", "q8/m-Q8_0-00001-of-00002.gguf", "mmproj-f16.gguf")
    assert [file.name[-19:-5] for file in parts.wanted()] == ["00001-of-00002", "00002-of-00002"]
    many = offered("m-Q2_K.gguf", "m-Q8_0.gguf")
    assert many.wanted("q8")[0].name == "m-Q8_0.gguf"
    for part, words in (("", "several"), ("q5", "no GGUF of that name")):
        with pytest.raises(UsageError, match=words) as caught:
            many.wanted(part)
        assert "m-Q2_K (0.0 GB), m-Q8_0 (0.0 GB)" in caught.value.hint
    ours = offered("config.json", "a.safetensors", "modeling.py", "tiktoken.model", "README.md")
    assert [file.name for file in ours.wanted()] == ["config.json", "a.safetensors", "tiktoken.model"]
    with pytest.raises(UsageError, match="neither"):
        offered("pytorch_model.bin", "config.json").wanted()


def test_too_little_room_is_said_before_anything_comes(run_dir: Path) -> None:
    huge = offered("m.gguf", size=1 << 60)
    with pytest.raises(UsageError, match="GB are free") as caught:
        hub.bring(huge, huge.wanted(), lambda file, done: None)
    assert "DESKAGENT_HOME" in caught.value.hint and not list(huge.folder.glob("*"))
