"""A worker that is prepared in advance changes nothing that tests can see."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterator
from importlib import util
from pathlib import Path

import pytest

from deskagent.repair.command import TestCommand
from deskagent.repair.types import Status
from deskagent.repair.verify import Verifier
from deskagent.terminal.sandbox import Unconfined

SOURCE = "def double(n):\n    return n + n + 1\n"
FIXED = SOURCE.replace(" + 1", "")


def _verifier(folder: Path, files: dict[str, str]) -> Verifier:
    folder.mkdir(exist_ok=True)
    for name, text in files.items():
        (folder / name).write_text(text, "utf-8")
    argv = (sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider")
    command = TestCommand(" ".join(argv), argv, "pytest", Path(sys.executable), argv[3:], as_module=True)
    return Verifier(folder, command, sandbox=Unconfined(), slots=1)


@pytest.fixture
def plugins(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The tests' pytest loads the plugins that are installed, as a person's does."""
    monkeypatch.delenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", raising=False)
    yield


@pytest.mark.usefixtures("plugins")
@pytest.mark.parametrize("own_copy", [False, True], ids=["foreign", "of pytest's own imports"])
def test_plugins_and_warnings_as_errors(tmp_path: Path, own_copy: bool) -> None:
    """Where pytest imports the project itself (packaging, iniconfig), nothing of pytest can be prepared: a plugin that
    the tests import must not be there before pytest looks for it, or it warns, which is an error here."""
    project = tmp_path / "project"
    if own_copy:
        found = util.find_spec("iniconfig")
        assert found is not None
        assert found.origin is not None
        shutil.copytree(Path(found.origin).parent, project / "iniconfig")
    files = {
        "pytest.ini": "[pytest]\nfilterwarnings = error\n",
        "twice.py": SOURCE,
        "test_twice.py": (
            "import hypothesis\nimport pexpect\nfrom twice import double\n\n\n"
            "def test_double():\n    assert double(2) == 4\n"
        ),
    }
    with _verifier(project, files) as verifier:
        verifier.baseline()
        assert verifier.warm
        assert verifier.submit({"twice.py": SOURCE.encode() + b"#\n"}).result(60).status is Status.RED
        assert verifier.submit({"twice.py": FIXED.encode()}).result(60).status is Status.GREEN


def test_a_module_that_pytest_itself_imports(tmp_path: Path) -> None:
    """Its edits are seen, one after the other, though a worker holds the module before any test runs."""
    project = tmp_path / "project"
    found = util.find_spec("iniconfig")
    assert found is not None
    assert found.origin is not None
    shutil.copytree(Path(found.origin).parent, project / "iniconfig")
    module = project / "iniconfig" / "__init__.py"
    clean = module.read_text("utf-8")
    tests = "from iniconfig import double\n\n\ndef test_double():\n    assert double(2) == 4\n"
    files = {"iniconfig/__init__.py": clean + "\n\n" + SOURCE, "test_double.py": tests}
    with _verifier(project, files) as verifier:
        assert [result.id for result in verifier.baseline().failing] == ["test_double.py::test_double"]
        assert verifier.warm
        for source, status in (
            (FIXED, Status.GREEN),
            (SOURCE + "#\n", Status.RED),
            (FIXED + "#\n", Status.GREEN),
        ):
            edited = (clean + "\n\n" + source).encode()
            assert verifier.submit({"iniconfig/__init__.py": edited}).result(60).status is status


def test_the_collector_s_view(tmp_path: Path) -> None:
    """What was imported in advance can still be found by `gc.get_referrers`, which tests of leaks ask."""
    files = {
        "twice.py": SOURCE,
        "test_twice.py": (
            "import gc\nimport pexpect\nfrom twice import double\n\n\n"
            "def test_double():\n    assert double(2) == 4\n\n\n"
            "def test_referrers():\n    assert any(r is vars(pexpect) for r in gc.get_referrers(pexpect.spawn))\n"
        ),
    }
    with _verifier(tmp_path / "project", files) as verifier:
        found = verifier.baseline()
        assert [result.id for result in found.failing] == ["test_twice.py::test_double"]
        assert not verifier.flaky
        assert verifier.submit({"twice.py": FIXED.encode()}).result(60).status is Status.GREEN
