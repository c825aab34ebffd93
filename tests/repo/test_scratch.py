from __future__ import annotations

import os
import py_compile
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from deskagent.errors import TransientError, UsageError
from deskagent.repo.scratch import Scratch, make_scratch
from deskagent.terminal import spawn
from deskagent.terminal.environment import base_env
from deskagent.terminal.sandbox import Sandbox, Unconfined
from deskagent.terminal.types import Command, End, Limits, Rung

Git = Callable[..., str]
CORE = b"def f():\r\n    return 1\r\n"


@pytest.fixture(params=[Rung.BWRAP, Rung.LANDLOCK, Rung.NONE])
def sandbox(request: pytest.FixtureRequest, sandbox_of: Callable[[Rung], Sandbox]) -> Sandbox:
    return sandbox_of(request.param)


def _run(scratch: Scratch, sandbox: Sandbox, line: str) -> str:
    """What a shell line prints in the copy."""
    result = spawn.run(
        Command(
            ("sh", "-c", line), cwd=scratch.seen_at, env=base_env({"PATH": os.environ["PATH"], **scratch.env})
        ),
        sandbox=sandbox,
        policy=scratch.policy,
        limits=Limits(seconds=60),
    )
    assert result.end is End.EXITED, result
    return result.text.strip()


def test_runs_see_the_copy_and_leave_the_project_alone(
    repo: Path, sandbox: Sandbox, digest: Callable[[Path], str]
) -> None:
    (repo / "dirty.txt").write_text("dirty")
    (repo / ".gitignore").write_text("ignored\n")
    (repo / "ignored").write_text("ignored")
    before = digest(repo)
    with make_scratch(repo, sandbox) as scratch:
        assert scratch.seen_at == (repo if sandbox.rung is Rung.BWRAP else scratch.root)
        assert _run(scratch, sandbox, "pwd; cat dirty.txt ignored") == f"{scratch.seen_at}\ndirtyignored"
        _run(
            scratch, sandbox, "echo changed > pkg/core.py; rm README; mkdir x; chmod 000 x pkg; ln -s / root"
        )
        assert (scratch.root / "root").is_symlink()
    assert not scratch.root.parent.exists()
    assert digest(repo) == before


def test_git_works_in_the_copy_and_can_t_write_the_real_one(
    repo: Path, sandbox: Sandbox, git: Git, digest: Callable[..., str]
) -> None:
    (repo / "README").write_text("dirty")
    before = digest(repo, times=False)  # git touches objects that it would write once more
    with make_scratch(repo, sandbox) as scratch:
        assert _run(scratch, sandbox, "git status --short; git log --format=%s") == "M README\nfirst"
        _run(
            scratch,
            sandbox,
            "git -c user.name=a -c user.email=b commit -qam second; git branch side; git gc -q",
        )
        _run(
            scratch,
            sandbox,
            "echo x > .git/hooks/pre-commit; git config core.pager evil; rm -rf .git/objects",
        )
    assert digest(repo, times=False) == before
    assert git(repo, "log", "--format=%s") == "first"


def test_worktrees_and_submodules_in_the_copy(repo: Path, sandbox: Sandbox, git: Git, tmp_path: Path) -> None:
    git(repo, "submodule", "--quiet", "add", f"file://{repo}", "sub")
    git(repo, "commit", "-qm", "with submodule")
    git(repo, "worktree", "add", "-q", str(tmp_path / "wt"))
    before = git(repo, "for-each-ref")
    with make_scratch(tmp_path / "wt", sandbox) as scratch:
        assert _run(scratch, sandbox, "git status --short; git log -1 --format=%s") == "with submodule"
        _run(scratch, sandbox, "git -c user.name=a -c user.email=b commit -q --allow-empty -m x")
    with make_scratch(repo, sandbox) as scratch:
        assert _run(scratch, sandbox, "git -C sub log --format=%s; git -C sub rev-parse --show-toplevel") == (
            f"first\n{scratch.seen_at}/sub"
        )
        assert _run(scratch, sandbox, "git status --short") == ""
    assert git(repo, "for-each-ref") == before


def test_a_hostile_git_file_can_t_bring_secrets_into_the_copy(project: Path, tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.mkdir()
    (secret / "config").write_text("KEY")
    (secret / "HEAD").write_text("KEY")
    (project / ".git").write_text(f"gitdir: {secret}\n")
    with make_scratch(project, Unconfined()) as scratch:
        assert (scratch.root / ".git").read_text() == f"gitdir: {secret}\n"
    (project / ".git").unlink()
    git = project / ".git"
    for folder in ("objects", "refs"):
        (git / folder).mkdir(parents=True)
    (git / "HEAD").write_text("ref: refs/heads/main\n")
    (git / "config").symlink_to(secret / "config")
    (git / "info").symlink_to(secret)
    with make_scratch(project, Unconfined()) as scratch:
        files = [path for path in (scratch.root / ".git").rglob("*") if path.is_file()]
        assert all(b"KEY" not in path.read_bytes() for path in files)
        assert not (scratch.root / ".git" / "info").exists()


def test_environments_are_seen_in_place_and_stay_read_only(
    project: Path, sandbox: Sandbox, environment: Callable[[Path], Path]
) -> None:
    site = environment(project / ".venv")
    (site / "dep.py").write_text("x = 42\n")
    (project / "node_modules").mkdir()
    (project / "node_modules" / "left").write_text("pad")
    with make_scratch(project, sandbox) as scratch:
        print_it = ".venv/bin/python -c 'import dep, sys; print(dep.x, sys.prefix)'; cat node_modules/left"
        assert _run(scratch, sandbox, print_it) == f"42 {scratch.seen_at}/.venv\npad"
        if sandbox.rung is not Rung.NONE:
            _run(
                scratch,
                sandbox,
                "echo evil > .venv/bin/python; echo evil > node_modules/left; rm -rf .venv/lib",
            )
        _run(scratch, sandbox, "echo ok > .venv/log")
        with pytest.raises(UsageError):
            scratch.write({".venv/lib/x.py": b""})
    assert (site / "dep.py").read_text() == "x = 42\n"
    assert (project / "node_modules" / "left").read_text() == "pad"
    assert not (project / ".venv" / "log").exists()


@pytest.mark.parametrize("layout", ["path", "finder"])
def test_an_editable_install_leads_to_the_copy(
    project: Path, tmp_path: Path, sandbox: Sandbox, environment: Callable[[Path], Path], layout: str
) -> None:
    shutil.move(project / "pkg", project / "src" / "pkg")
    site = environment(tmp_path / "env")
    if layout == "path":
        (site / "__editable__.proj.pth").write_text(f"{project}/src\n")
    else:
        (site / "__editable__.proj.pth").write_text("import __editable___proj_finder\n")
        (site / "__editable___proj_finder.py").write_text(
            f"import sys, importlib.util\nMAPPING = {{'pkg': '{project}/src/pkg'}}\n"
            "class Finder:\n    @staticmethod\n    def find_spec(name, path=None, target=None):\n"
            "        if name in MAPPING:\n            return importlib.util.spec_from_file_location(\n"
            "                name, MAPPING[name] + '/__init__.py', submodule_search_locations=[MAPPING[name]])\n"
            "sys.meta_path.append(Finder)\n"
        )
    python = tmp_path / "env" / "bin" / "python"
    with make_scratch(
        project, sandbox, interpreter=python, pythonpath=f"{project}/extra:/elsewhere"
    ) as scratch:
        scratch.write({"src/pkg/core.py": b"def f():\n    return 2\n"})
        found = _run(scratch, sandbox, f"cd /; {python} -c 'import pkg.core as c; print(c.f(), c.__file__)'")
        if sandbox.rung is not Rung.BWRAP:
            path = scratch.env["PYTHONPATH"].split(":")
            assert path == [str(scratch.root / "src"), str(scratch.root / "extra"), "/elsewhere"]
    assert found == f"2 {scratch.seen_at}/src/pkg/core.py"


def test_an_editable_install_that_can_t_be_redirected_is_refused(
    project: Path, tmp_path: Path, environment: Callable[[Path], Path], sandbox_of: Callable[[Rung], Sandbox]
) -> None:
    site = environment(tmp_path / "env")
    (site / "x.pth").write_text(f"import sys; sys.path.insert(0, '{project}')\n")
    python = tmp_path / "env" / "bin" / "python"
    with pytest.raises(UsageError, match="editable mode"):
        make_scratch(project, Unconfined(), interpreter=python)
    with make_scratch(project, sandbox_of(Rung.BWRAP), interpreter=python) as scratch:
        assert scratch.env == {}


def test_write_and_restore(project: Path, digest: Callable[[Path], str]) -> None:
    (project / "pkg" / "core.py").chmod(0o750)
    os.utime(project / "pkg" / "core.py", ns=(1, 1_000_000_123))
    os.link(project / "README", project / "same")
    with make_scratch(project, Unconfined()) as scratch:
        core = scratch.root / "pkg" / "core.py"
        scratch.write({"pkg/core.py": b"one", "README": None})
        scratch.write({"pkg/core.py": b"two", "added.py": b"x", "README": b"back"})
        assert (core.read_bytes(), core.stat().st_mode & 0o777) == (b"two", 0o750)
        assert (scratch.root / "same").read_bytes() == b"no final newline"
        scratch.restore()
        status = core.stat()
        assert (core.read_bytes(), status.st_mode & 0o777, status.st_mtime_ns) == (CORE, 0o750, 1_000_000_123)
        assert (scratch.root / "README").read_bytes() == b"no final newline"
        assert not (scratch.root / "added.py").exists()
        assert sorted(path.name for path in scratch.root.iterdir()) == ["README", "pkg", "same"]
    assert (project / "pkg" / "core.py").read_bytes() == CORE


def test_folders_closed_to_their_owner_are_written_in_the_copy_alone(project: Path) -> None:
    (project / "pkg").chmod(0o555)
    with make_scratch(project, Unconfined()) as scratch:
        scratch.write({"pkg/core.py": b"2\n", "pkg/new.py": b"3\n"})
        assert (scratch.root / "pkg").stat().st_mode & 0o777 == 0o755
        assert (scratch.root / "pkg" / "core.py").read_bytes() == b"2\n"
    assert (project / "pkg").stat().st_mode & 0o777 == 0o555
    (project / "pkg").chmod(0o755)


def test_two_candidates_of_one_size_in_one_second_are_not_confused(project: Path) -> None:
    with make_scratch(project, Unconfined()) as scratch:

        def value() -> str:
            return subprocess.run(
                (sys.executable, "-c", "import pkg.core; print(pkg.core.f())"),
                cwd=scratch.root,
                capture_output=True,
                text=True,
            ).stdout.strip()

        py_compile.compile(str(scratch.root / "pkg" / "core.py"))
        seen = [value()]
        for digit in (b"2", b"3"):
            scratch.write({"pkg/core.py": CORE.replace(b"1", digit)})
            os.utime(scratch.root / "pkg" / "core.py", (1000, 1000))
            seen.append(value())
        scratch.restore()
        seen.append(value())
    assert seen == ["1", "2", "3", "1"]


def test_writing_doesn_t_follow_what_the_tests_put_there(project: Path, tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.mkdir()
    (secret / "core.py").write_bytes(b"KEY")
    with make_scratch(project, Unconfined()) as scratch:
        scratch.write({"README": b"candidate"})
        (scratch.root / "README").unlink()
        (scratch.root / "README").mkdir()
        (scratch.root / "README" / "x").write_text("x")
        scratch.restore()
        assert (scratch.root / "README").read_bytes() == b"no final newline"
        shutil.rmtree(scratch.root / "pkg")
        (scratch.root / "pkg").symlink_to(secret)
        with pytest.raises(UsageError, match="leads out"):
            scratch.write({"pkg/core.py": b"stolen"})
        for name in ("../x", "/etc/passwd", ".git/hooks/x", ""):
            with pytest.raises(UsageError):
                scratch.write({name: b"x"})
    assert (secret / "core.py").read_bytes() == b"KEY"


def test_links_into_the_project_lead_to_the_copy(project: Path, sandbox: Sandbox, tmp_path: Path) -> None:
    (tmp_path / "outside").write_text("outside")
    (project / "absolute").symlink_to(project / "README")
    (project / "away").symlink_to(tmp_path / "outside")
    with make_scratch(project, sandbox) as scratch:
        scratch.write({"README": b"candidate"})
        assert _run(scratch, sandbox, "cat absolute") == "candidate"
        assert (scratch.root / "away").readlink() == tmp_path / "outside"


def test_absolute_paths_in_a_command_lead_to_the_copy(project: Path, sandbox: Sandbox) -> None:
    with make_scratch(project, sandbox) as scratch:
        words = ("pytest", str(project), f"{project}/pkg", f"{project}2/pkg", "--opt=x", "pkg")
        seen = scratch.seen_at
        assert scratch.relocated(words) == (
            "pytest",
            str(seen),
            f"{seen}/pkg",
            f"{project}2/pkg",
            "--opt=x",
            "pkg",
        )


def test_an_import_path_into_the_project_leads_to_the_copy(
    project: Path, sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also where the project lies in a /tmp that is masked, of which search paths are let through."""
    monkeypatch.setenv("PYTHONPATH", f"{project}/pkg")
    monkeypatch.setenv("VIRTUAL_ENV", f"{project}/pkg")
    with make_scratch(project, sandbox) as scratch:
        scratch.write({"pkg/core.py": b"print('the copy')\n"})
        assert _run(scratch, sandbox, f"{sys.executable} -c 'import core'; touch pkg/new") == "the copy"


def test_folders_that_are_no_project_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path / "home" / "me"))
    (tmp_path / "home" / "me").mkdir(parents=True)
    for folder in (Path("/"), tmp_path / "home", tmp_path / "home" / "me"):
        with pytest.raises(UsageError, match="home folder"):
            make_scratch(folder, Unconfined())
    with pytest.raises(UsageError, match="not a folder"):
        make_scratch(tmp_path / "absent", Unconfined())


def test_deskagent_s_own_folder_inside_the_project_is_not_copied(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DESKAGENT_HOME", str(project / "own"))
    with make_scratch(project, Unconfined()) as scratch:
        assert [item.path for item in scratch.skipped] == ["own/cache/scratch"]
        assert (scratch.root / "pkg" / "core.py").exists()


_MAKE_AND_DIE = """
import os, sys
from pathlib import Path
from deskagent.repo.scratch import make_scratch
from deskagent.terminal.sandbox import Unconfined
count, limit = 0, int(sys.argv[2])
def watch(event, _):
    global count
    if event in ("open", "os.mkdir", "os.chmod", "os.utime", "os.link", "os.symlink"):
        count += 1
        if count == limit:
            os.kill(os.getpid(), 9)
sys.addaudithook(watch)
make_scratch(Path(sys.argv[1]), Unconfined())
"""


def test_killed_while_copying_the_next_run_clears_up(
    project: Path, own_folders: Path, digest: Callable[[Path], str]
) -> None:
    before = digest(project)
    for number in (3, 9, 20, 10_000):
        subprocess.run((sys.executable, "-c", _MAKE_AND_DIE, str(project), str(number)), timeout=60)
    make_scratch(project, Unconfined()).close()
    assert [path.name for path in (own_folders / "cache" / "scratch").iterdir()] == [".lock"]
    assert digest(project) == before


def test_nothing_is_left_when_making_one_fails(
    project: Path, own_folders: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "utime", fail)
    with pytest.raises(TransientError, match="No space left"):
        make_scratch(project, Unconfined())
    assert [path.name for path in (own_folders / "cache" / "scratch").iterdir()] == [".lock"]
