"""Makes the README's pictures of the app: the real one, on a small project, with answers that are written here.

    python assets/app_pictures.py assets       # from the repository's root
"""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path

from deskagent.agent.converse.work import Options
from deskagent.agent.permissions import Mode
from tests.ui.conftest import Play, Scripted, calls, says, thinks
from ui.app import DeskApp

SIZE = (124, 36)
CODE = '''"""Prices of an order."""


def total(lines, discount=0):
    """What the lines cost together, less the discount in percent."""
    amount = sum(line["price"] for line in lines)
    return amount * (1 - discount / 10)
'''
TEST = '''from prices import total


def test_quantities_count():
    assert total([{"price": 2.0, "quantity": 3}]) == 6.0


def test_discount_is_percent():
    assert total([{"price": 10.0, "quantity": 1}], discount=10) == 9.0
'''
TODOS = [
    {"text": "Read prices.py and its test", "state": "done"},
    {"text": "Count quantities, read the discount as percent", "state": "doing"},
    {"text": "Run the tests"},
]
EDITS = (
    ('sum(line["price"] for line in lines)', 'sum(line["price"] * line["quantity"] for line in lines)'),
    ("discount / 10)", "discount / 100)"),
)
END = """Both tests pass now. Two things were wrong in `total`:

- quantities were left out of the sum
- the discount was divided by 10, though it is in **percent**
"""


def script() -> list[list[object]]:
    def call(id: str, name: str, **arguments: object) -> list[object]:
        return [partial(time.sleep, 0.4), *calls((id, name, json.dumps(arguments)))]

    return [
        [thinks("The tests say that quantities and a discount in percent are wanted. First I look at what is there."),
         *call("c1", "todo", todos=TODOS)],
        call("c2", "read", path="prices.py"),
        *[call(f"e{n}", "edit", path="prices.py", old=old, new=new) for n, (old, new) in enumerate(EDITS)],
        call("c4", "terminal", command=f"{Path(sys.executable).name} -m pytest -q"),
        [thinks("Green."), partial(time.sleep, 1), *says(END)],
    ]


def keep(app: DeskApp, folder: Path, name: str) -> None:
    (folder / f"{name}.svg").write_text(app.export_screenshot(title="deskagent"), "utf-8")


@asynccontextmanager
async def playing(project: Path) -> AsyncIterator[tuple[DeskApp, Play]]:
    """The app on the project with a scripted model, open for keys; ended afterwards."""
    provider = Scripted(script())
    provider.name = "local/qwen"
    options = Options(start=project, argv=("deskagent",), model=lambda _: (provider, False), mode=Mode.ASK)
    app = DeskApp(lambda: options)
    async with app.run_test(size=SIZE) as pilot:
        on = Play(app, pilot)
        await on.opened()
        yield app, on
    assert app.conversation is not None
    app.conversation.close()
    await asyncio.to_thread(app.conversation.join, 20)


async def draw(folder: Path, project: Path) -> None:
    async with playing(project) as (app, on):
        await on.send("both tests of @test_prices.py fail, mend prices.py")
        await on.shows("once")
        await asyncio.sleep(1)
        await on.pilot.pause()
        keep(app, folder, "app-question")
        for _ in range(3):
            await asyncio.sleep(0.6)
            await on.press("y")
            await asyncio.sleep(1)
            await on.pilot.pause()
        await on.shows("Both tests pass")
        await on.idle()
        keep(app, folder, "app-answer")
        await on.press("ctrl+b")
        await asyncio.sleep(1)
        await on.pilot.pause()
        keep(app, folder, "app-changes")


def shop(folder: Path) -> Path:
    """The small project, a git repository."""
    project = folder / "shop"
    project.mkdir()
    (project / "prices.py").write_text(CODE)
    (project / "test_prices.py").write_text(TEST)
    for line in (["init", "-q", "-b", "main"], ["add", "-A"],
                 ["-c", "user.name=me", "-c", "user.email=me@localhost", "commit", "-qm", "Prices"]):
        subprocess.run(["git", *line], cwd=project, check=True)
    return project


def main(target: str) -> None:
    with tempfile.TemporaryDirectory() as scratch:
        os.environ["DESKAGENT_HOME"] = str(Path(scratch) / "home")
        asyncio.run(draw(Path(target).resolve(), shop(Path(scratch))))


if __name__ == "__main__":
    sys.path.insert(0, os.getcwd())
    main(sys.argv[1])
