"""A suite that hangs is looked at with a limit for each test."""

import shutil

import pytest

from deskagent.repair.command import TestCommand
from deskagent.repair.types import Outcome, Status
from deskagent.repair.verify import Verifier
from deskagent.terminal.sandbox import find_sandbox

LOOP = "exports.count = (n) => {\n  let i = 0;\n  while (i < n) {\n    i -= 1;\n  }\n  return i;\n};\n"
TEST = (
    "const test = require('node:test');\nconst assert = require('node:assert');\nconst { count } = require('./a.js');\n"
    "test('three', () => assert.equal(count(3), 3));\n"
)


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("node") is None, reason="node is not installed")
def test_a_hanging_test_is_found_and_repaired(tmp_path, monkeypatch):
    monkeypatch.setenv("DESKAGENT_HOME", str(tmp_path / "home"))
    project = tmp_path / "project"
    project.mkdir()
    (project / "a.js").write_text(LOOP)
    (project / "a.test.js").write_text(TEST)
    command = TestCommand("node --test", ("node", "--test"), "command")
    with Verifier(project, command, sandbox=find_sandbox(), slots=1) as verifier:
        found = verifier.baseline(seconds=10.0)
        if not found.failing or found.failing[0].outcome is not Outcome.TIMEOUT:
            pytest.skip("this node can't limit the time of a test")
        assert [result.id for result in found.failing] == ["a.test.js"]
        assert verifier.submit({"a.js": LOOP.replace("-=", "+=").encode()}).result().status is Status.GREEN
        assert (
            verifier.submit({"a.js": LOOP.replace("-= 1", "-= 2").encode()}).result().status
            is not Status.GREEN
        )
