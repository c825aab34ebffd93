from __future__ import annotations

import errno
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from deskagent.errors import DeskagentError, TransientError, UsageError
from deskagent.repo import apply
from deskagent.repo.apply import ConflictError, State

CORE = b"def f():\r\n    return 1\r\n"
PATCH = {
    "pkg/core.py": (CORE, CORE.replace(b"1", b"2")),
    "README": (b"no final newline", b"other"),
    "new": (None, b"n"),
}


def _names(folder: Path) -> list[str]:
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*"))


def test_a_patch_and_its_undo(project: Path) -> None:
    (project / "README").chmod(0o751)
    before = _names(project)
    undo = apply.apply(project, PATCH)
    assert (project / "pkg/core.py").read_bytes() == CORE.replace(b"1", b"2")
    assert (project / "README").stat().st_mode & 0o7777 == 0o751
    assert _names(project) == sorted([*before, "new"])
    apply.apply(project, undo)
    assert (project / "pkg/core.py").read_bytes() == CORE
    assert _names(project) == before


@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(before=st.binary(max_size=200), after=st.binary(max_size=200))
def test_any_bytes_go_in_and_come_back(project: Path, before: bytes, after: bytes) -> None:
    (project / "data").write_bytes(before)
    undo = apply.apply(project, {"data": (before, after)})
    assert (project / "data").read_bytes() == after
    apply.apply(project, undo)
    assert (project / "data").read_bytes() == before


def test_a_file_that_has_changed_is_refused_with_a_diff(project: Path, digest: Callable[[Path], str]) -> None:
    (project / "pkg/core.py").write_bytes(CORE.replace(b"1", b"17"))
    as_it_was = digest(project)
    with pytest.raises(ConflictError, match="has changed since it was read") as caught:
        apply.apply(project, PATCH)
    assert "-    return 1\r\n+    return 17" in caught.value.diff
    assert digest(project) == as_it_was


@pytest.mark.parametrize("change", ["gone", "exists"])
def test_a_file_that_went_or_came_is_refused(
    project: Path, digest: Callable[[Path], str], change: str
) -> None:
    if change == "gone":
        (project / "pkg/core.py").unlink()
    else:
        (project / "new").write_bytes(b"")
    as_it_was = digest(project)
    with pytest.raises(ConflictError, match=change):
        apply.apply(project, PATCH)
    assert digest(project) == as_it_was


def test_a_link_that_leads_out_is_refused(project: Path, tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.mkdir()
    (secret / "core.py").write_bytes(CORE)
    (project / "pkg/core.py").unlink()
    (project / "pkg/core.py").symlink_to(secret / "core.py")
    (project / "out").symlink_to(secret)
    for name in ("pkg/core.py", "out/core.py", "../secret/core.py", str(secret / "core.py")):
        with pytest.raises(UsageError):
            apply.apply(project, {name: (CORE, b"stolen")})
    assert (secret / "core.py").read_bytes() == CORE


def test_a_link_inside_the_project_stays_a_link(project: Path) -> None:
    (project / "alias.py").symlink_to("pkg/core.py")
    apply.apply(project, {"alias.py": (CORE, b"x = 1\n")})
    assert (project / "alias.py").is_symlink()
    assert (project / "pkg/core.py").read_bytes() == b"x = 1\n"


def test_a_hard_link_to_a_file_elsewhere_is_not_written_through(project: Path, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.write_bytes(b"mine")
    os.link(outside, project / "linked")
    apply.apply(project, {"linked": (b"mine", b"theirs")})
    assert (project / "linked").read_bytes() == b"theirs"
    assert outside.read_bytes() == b"mine"


def test_a_swap_between_check_and_write_is_noticed(
    project: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """What somebody saves in the last instant comes out of the exchange and is put back."""
    real = apply._exchange
    path = project / "pkg/core.py"

    def save_first(at: int, one: str, other: str) -> None:
        if not saved:
            saved.append(True)
            path.write_bytes(b"the person's own\n")
        real(at, one, other)

    saved: list[bool] = []
    names = _names(project)
    monkeypatch.setattr(apply, "_exchange", save_first)
    with pytest.raises(ConflictError, match="has changed"):
        apply.apply(project, {"README": PATCH["README"], "pkg/core.py": PATCH["pkg/core.py"]})
    assert path.read_bytes() == b"the person's own\n"
    assert (project / "README").read_bytes() == b"no final newline"
    assert _names(project) == names


def test_a_folder_swapped_for_a_link_is_not_written_through(
    project: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    secret = tmp_path / "secret"
    secret.mkdir()
    (secret / "core.py").write_bytes(CORE)
    real = apply._check

    def swap_then_check(target: apply._Target) -> None:
        if (project / "pkg").is_dir() and not (project / "pkg").is_symlink():
            (project / "pkg").rename(project / "moved")
            (project / "pkg").symlink_to(secret)
        real(target)

    monkeypatch.setattr(apply, "_check", swap_then_check)
    apply.apply(project, {"pkg/core.py": PATCH["pkg/core.py"]})
    assert (secret / "core.py").read_bytes() == CORE
    assert (project / "moved/core.py").read_bytes() == PATCH["pkg/core.py"][1]


def test_a_file_system_that_can_t_exchange(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise OSError(errno.EINVAL, "Invalid argument")

    monkeypatch.setattr(apply, "_exchange", refuse)
    (project / "zz").write_bytes(b"z")
    real = apply._change_places

    def fail_last(target: apply._Target) -> None:
        if target.name == "zz":
            raise OSError(errno.ENOSPC, "No space left on device")
        real(target)

    with monkeypatch.context() as context:
        context.setattr(apply, "_change_places", fail_last)
        with pytest.raises(TransientError):
            apply.apply(project, {**{n: PATCH[n] for n in ("README", "pkg/core.py")}, "zz": (b"z", b"y")})
    assert [(project / n).read_bytes() for n in ("README", "pkg/core.py", "zz")] == [
        b"no final newline",
        CORE,
        b"z",
    ]
    undo = apply.apply(project, PATCH)
    assert (project / "README").read_bytes() == b"other"
    apply.apply(project, undo)
    assert _names(project) == ["README", "pkg", "pkg/__init__.py", "pkg/core.py", "zz"]


def test_a_read_only_file_is_refused(project: Path) -> None:
    (project / "README").chmod(0o444)
    with pytest.raises(UsageError, match="README is read-only"):
        apply.apply(project, PATCH)
    assert (project / "pkg/core.py").read_bytes() == CORE


@pytest.mark.skipif(os.geteuid() == 0, reason="root writes everywhere")
def test_a_read_only_folder_is_refused(project: Path) -> None:
    (project / "pkg").chmod(0o555)
    with pytest.raises(UsageError, match="Nothing was changed"):
        apply.apply(project, PATCH)
    assert (project / "README").read_bytes() == b"no final newline"


def test_attributes_are_kept(project: Path) -> None:
    try:
        os.setxattr(project / "README", "user.note", b"keep me")
    except OSError:
        pytest.skip("no extended attributes on this file system")
    apply.apply(project, {"README": PATCH["README"]})
    assert os.getxattr(project / "README", "user.note") == b"keep me"


def test_check_says_what_apply_would(project: Path, digest: Callable[[Path], str]) -> None:
    as_it_was = digest(project)
    apply.check(project, PATCH)
    with pytest.raises(ConflictError):
        apply.check(project, {"README": (b"else", b"x")})
    assert digest(project) == as_it_was


_ON_OTHER_DISKS = """
import os, subprocess, sys
from pathlib import Path
from deskagent.errors import DeskagentError
from deskagent.repo.apply import apply
disk = Path(sys.argv[1])
(disk / "a").write_bytes(b"a")
(disk / "b").write_bytes(b"b")
def attempt(after):
    try:
        apply(disk, {"a": (b"a", b"1"), "b": (b"b", after)})
    except DeskagentError as error:
        print(error.exit_code, sorted(os.listdir(disk)), (disk / "a").read_bytes() + (disk / "b").read_bytes())
attempt(bytes(2 << 20))
subprocess.run(["mount", "-o", "remount,ro", disk], check=True)
attempt(b"2")
"""


def test_a_full_disk_and_a_read_only_mount(tmp_path: Path) -> None:
    if not shutil.which("unshare"):
        pytest.skip("unshare is not installed")
    script = f'mount -t tmpfs -o size=1m none "{tmp_path}" && exec "$0" "$@"'
    own = () if os.geteuid() == 0 else ("-r",)
    words = ("unshare", *own, "-m", "sh", "-c", script, sys.executable, "-c", _ON_OTHER_DISKS, str(tmp_path))
    done = subprocess.run(words, capture_output=True, text=True, timeout=60)
    if "mount:" in done.stderr or "unshare:" in done.stderr:
        pytest.skip(f"no mounts of one's own here: {done.stderr.strip()}")
    assert done.stdout.splitlines() == ["75 ['a', 'b'] b'ab'", "2 ['a', 'b'] b'ab'"], done


# What the operating system is asked for, as Python's audit events tell it.
_OPERATIONS = (
    "open",
    "os.rename",
    "os.link",
    "os.remove",
    "os.chown",
    "os.chmod",
    "os.utime",
    "ctypes.dlsym",
)


def _in_child(work: Callable[[Callable[[str], None]], None]) -> int:
    """Runs `work` in a fork and returns its exit status: an audit hook can't be taken off again."""
    pid = os.fork()
    if pid == 0:
        status = 99
        try:
            work(sys.addaudithook)
            status = 0
        except DeskagentError as error:
            status = error.exit_code
        finally:
            os._exit(status)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


def _at_operation(number: int, act: Callable[[], None], patch: apply.Patch, project: Path) -> int:
    def work(hook: Callable[[Callable], None]) -> None:
        count = 0

        def watch(event: str, _: object) -> None:
            nonlocal count
            if event in _OPERATIONS:
                count += 1
                if count == number:
                    act()

        hook(watch)
        apply.apply(project, patch)
        if count < number:
            os._exit(55)

    return _in_child(work)


def test_killed_at_every_operation_each_file_is_before_or_after(project: Path) -> None:
    (project / "old").write_bytes(b"o")
    patch = {**PATCH, "old": (b"o", None)}
    undo = {name: (after, before) for name, (before, after) in patch.items()}
    clean = _names(project)
    seen: set[tuple[State, ...]] = set()
    for number in range(1, 200):
        status = _at_operation(number, lambda: os._exit(9), patch, project)
        if status == 55:
            break
        found = apply.recover(project, patch)
        assert State.OTHER not in found.values(), number
        assert [name for name in _names(project) if "deskagent" in name] == []
        seen.add(tuple(found[name] for name in sorted(patch)))
        apply.apply(project, {name: undo[name] for name, state in found.items() if state is State.AFTER})
        assert _names(project) == clean
    assert status == 55
    assert len(seen) == 5  # none of the four, one, two, three, all


def test_failing_at_every_operation_the_tree_is_as_before(project: Path) -> None:
    (project / "old").write_bytes(b"o")
    patch = {**PATCH, "old": (b"o", None)}
    clean = _names(project)

    def fail() -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    statuses: list[int] = []
    for number in range(1, 200):
        statuses.append(_at_operation(number, fail, patch, project))
        if statuses[-1] == 55:
            break
        found = apply.recover(project, patch)
        if statuses[-1] == 0:  # what failed was to clear away
            apply.apply(project, {name: (after, before) for name, (before, after) in patch.items()})
        else:
            assert statuses[-1] == 75, number
            assert set(found.values()) == {State.BEFORE}, number
        assert _names(project) == clean
    assert statuses[-1] == 55
    assert statuses.count(75) > 10


def test_recovery_gives_back_what_somebody_saved_meanwhile(project: Path) -> None:
    """Killed after the exchange and before the look at what came out of it."""
    patch = {"README": PATCH["README"]}
    target = apply._Target("README", -1, "README", *patch["README"])
    (project / "README").write_bytes(b"other")
    (project / apply._temporary(target)).write_bytes(b"the person's own")
    assert apply.recover(project, patch) == {"README": State.OTHER}
    assert (project / "README").read_bytes() == b"the person's own"
    assert _names(project) == ["README", "pkg", "pkg/__init__.py", "pkg/core.py"]
