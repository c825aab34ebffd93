"""Where a program is looked for."""

import os

import pytest

from deskagent.terminal.lookup import StartError, check


@pytest.fixture
def program(tmp_path):
    def make(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("#!/bin/sh\n")
        path.chmod(0o755)
        return path

    return make


def test_the_search_path_in_its_order(command, program, tmp_path):
    first = program(tmp_path / "one" / "tool")
    program(tmp_path / "two" / "tool")
    env = {"PATH": f"{tmp_path}/none:{tmp_path}/one:{tmp_path}/two"}
    assert check(command("tool", env=env), {}) == first


def test_a_file_without_the_right_is_passed_over_or_named(command, program, tmp_path):
    program(tmp_path / "one" / "tool").chmod(0o644)
    with pytest.raises(StartError, match="not executable") as caught:
        check(command("tool", env={"PATH": f"{tmp_path}/one"}), {})
    assert caught.value.code == 126
    assert "chmod +x" in caught.value.hint
    second = program(tmp_path / "two" / "tool")
    assert check(command("tool", env={"PATH": f"{tmp_path}/one:{tmp_path}/two"}), {}) == second


def test_mounted_folders_are_seen_where_they_will_be(command, program, tmp_path):
    scratch, project = tmp_path / "scratch", tmp_path / "project"
    (project / "sub").mkdir(parents=True)
    program(project / "gone")
    program(scratch / "sub" / "tool")
    mounts = {scratch: project}
    assert check(command("./sub/tool", cwd=project), mounts) == project / "sub" / "tool"
    assert check(command("./tool", cwd=project / "sub"), mounts) == project / "sub" / "tool"
    with pytest.raises(StartError, match="no such file"):
        check(command("./gone", cwd=project), mounts)


@pytest.mark.parametrize("name", ["x" * 300, "/" + "x/" * 3000, "\n", "-c", "..", "/", "/etc/passwd/x"])
def test_odd_names(command, name):
    with pytest.raises(StartError):
        check(command(name), {})


def test_a_folder_without_rights(command, tmp_path):
    if os.geteuid() == 0:
        pytest.skip("root may enter every folder")
    (tmp_path / "locked").mkdir(mode=0)
    with pytest.raises(StartError):
        check(command("true", cwd=tmp_path / "locked" / "inner"), {})


def test_a_mount_inside_another_tells_where_a_program_lies(command, program, tmp_path):
    project, scratch = tmp_path / "project", tmp_path / "scratch"
    tool = program(project / ".venv" / "bin" / "tool")
    (scratch / ".venv" / "bin").mkdir(parents=True)
    inner = {tool.parent: tool.parent}
    for mounts in ({scratch: project, **inner}, {**inner, scratch: project}):
        assert check(command(".venv/bin/tool", cwd=project), mounts) == tool
        assert check(command(str(tool), cwd=project), mounts) == tool
        assert check(command("tool", cwd=project, env={"PATH": str(tool.parent)}), mounts) == tool
