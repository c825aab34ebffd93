"""Pictures in conversations: sent to models that see, told to those that don't, never the end of a session."""

from __future__ import annotations

import base64
import io
from pathlib import Path

import pexpect
import pytest
from PIL import Image

from deskagent.terminal.sandbox import find_sandbox
from deskagent.terminal.types import Rung

SAID = [["text", "I see."]]
LOOK = [["call", ["image", {"path": "shot.png"}]]]
MODE = "full" if find_sandbox().rung is Rung.NONE else "auto"


def picture(size=(60, 40), form="PNG", **more) -> bytes:
    out = io.BytesIO()
    Image.new("RGB", size, "teal").save(out, form, **more)
    return out.getvalue()


@pytest.fixture
def seeing(agent):
    """Marks the stand-in as a model that sees, beside one that doesn't."""

    def mark() -> None:
        models = agent.home / "config" / "models.toml"
        text = models.read_text()
        blind = text.replace("stand/in", "stand/blind").split("\n", 1)[1]
        models.write_text(f"{text}images = true\n{blind}")

    return mark


def run(agent, project: Path, *words: str):
    command = [*agent.command, "run", *words, "--output-format", "json", "--permission-mode", MODE]
    return agent.run(command, project)


def urls(request) -> list[str]:
    return [
        part["image_url"]["url"]
        for message in request["messages"]
        if isinstance(message.get("content"), list)
        for part in message["content"]
        if part["type"] == "image_url"
    ]


def opened(url: str) -> Image.Image:
    return Image.open(io.BytesIO(base64.b64decode(url.partition("base64,")[2])))


def test_a_picture_that_the_person_names_is_seen_also_after_a_resume(agent, serve, seeing, project) -> None:
    server = serve(SAID)
    seeing()
    (project / "my shot.png").write_bytes(picture((3000, 1500)))
    first = run(agent, project, 'what is on @"my shot.png"?')
    assert first.code == 0, first
    (project / "my shot.png").unlink()
    assert run(agent, project, "and now?", "-c").code == 0
    before, after = (request["messages"] for request in server.asked)
    assert after[: len(before)] == before
    (url,) = urls(server.asked[1])
    assert opened(url).size == (1568, 784)


def test_a_model_looks_at_a_file_and_gets_it_behind_the_result(agent, serve, seeing, project) -> None:
    server = serve(LOOK, SAID)
    seeing()
    (project / "shot.png").write_bytes(picture())
    assert run(agent, project, "look").code == 0
    told = {tool["function"]["name"] for tool in server.asked[0]["tools"]}
    assert "image" in told
    roles = [message["role"] for message in server.asked[1]["messages"]]
    assert roles[-2:] == ["tool", "user"] and opened(urls(server.asked[1])[0]).size == (60, 40)


def test_who_can_not_see_is_told_and_the_person_learns_who_could(agent, serve, seeing, project) -> None:
    server = serve(SAID)
    seeing()
    (project / "shot.png").write_bytes(picture())
    done = run(agent, project, "what is on @shot.png", "-m", "stand/blind")
    assert done.code == 0
    assert any("stand/blind can't see" in word and "stand/in" in word for word in done.result["notices"])
    assert urls(server.asked[0]) == [] and "that you can't see: shot.png" in str(server.asked[0])
    assert "image" not in {tool["function"]["name"] for tool in server.asked[0]["tools"]}
    assert run(agent, project, "look again", "-c", "-m", "stand/in").code == 0
    assert len(urls(server.asked[1])) == 1


@pytest.mark.parametrize(
    ("raw", "says"),
    [
        (picture((600, 400))[:300], "damaged or cut short"),
        (b"\x89PNG\r\n\x1a\n" + b"\0" * 100, "no picture that can be read"),
    ],
)
def test_a_picture_that_is_none_is_said_before_anything_is_asked(agent, serve, project, raw, says) -> None:
    server = serve(SAID)
    (project / "shot.png").write_bytes(raw)
    done = run(agent, project, "what is on @shot.png?")
    assert done.code == 2 and says in done.result["error"]["message"] and server.asked == []


def test_in_chat_a_picture_is_said_and_a_bad_one_leaves_the_conversation(
    agent, serve, seeing, project
) -> None:
    server = serve(SAID)
    seeing()
    (project / "good.png").write_bytes(picture())
    (project / "bad.png").write_bytes(picture((600, 400))[:300])
    words = [*agent.command, "chat"]
    child = pexpect.spawn(
        words[0], words[1:], cwd=str(project), env=agent.env(), encoding="utf-8", timeout=60
    )
    child.expect("> ")
    child.sendline("see @bad.png")
    child.expect("damaged or cut short")
    child.expect("> ")
    child.sendline("see @good.png")
    child.expect("I see")
    child.expect("> ")
    child.sendline("/model stand/blind")
    child.expect("Model: stand/blind")
    child.sendline("still?")
    child.expect("I see")
    child.expect("> ")
    child.sendeof()
    child.expect(pexpect.EOF)
    assert [len(urls(request)) for request in server.asked] == [1, 0]
    assert "bad.png" not in str(server.asked[1])


def test_an_export_names_a_picture_and_holds_nothing_of_it(agent, serve, seeing, project) -> None:
    serve(SAID)
    seeing()
    exif = Image.Exif()
    exif[0x010E] = "taken at home"
    raw = picture(form="JPEG", exif=exif)
    assert b"taken at home" in raw
    (project / "shot.jpg").write_bytes(raw)
    assert run(agent, project, "see @shot.jpg").code == 0
    done = agent.run([*agent.command, "sessions", "export", "last"], project)
    assert done.code == 0 and "shot.jpg" in done.stdout and "base64" not in done.stdout
