"""What a session changed is reviewed hunk by hunk: kept ones are on record, others are taken back byte by byte."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deskagent.agent import reviewing
from deskagent.agent.apply import apply_patch
from deskagent.agent.reviewing import Changed, Now
from deskagent.agent.undo import run_undo, undo_latest
from deskagent.errors import UsageError
from deskagent.repo.apply import ConflictError

BEFORE = b"import os\r\n\r\n\r\n\r\ndef one():\r\n    return 1\r\n\r\n\r\n\r\ndef two():\r\n    return 3  # \xe9\r\nend"
AFTER = BEFORE.replace(b"return 1", b"return 'one'").replace(b"return 3", b"return 2")


@pytest.fixture
def module(project: Path, recorder) -> Path:
    path = project / "a.py"
    path.write_bytes(BEFORE)
    path.chmod(0o750)
    apply_patch(recorder, project, {"a.py": (BEFORE, AFTER)})
    return path


def only(recorder, project: Path) -> Changed:
    (found,) = reviewing.changed(recorder.journal, project)
    return found


def test_a_hunk_is_taken_back_and_the_other_stays(module: Path, project: Path, recorder) -> None:
    file = only(recorder, project)
    assert len(file.hunks) == 2 and file.counts == (2, 2) and file.now is Now.SAME
    told = reviewing.reject(recorder, project, file, file.hunks[0])
    assert module.read_bytes() == BEFORE.replace(b"return 3", b"return 2")
    assert stat.S_IMODE(module.stat().st_mode) == 0o750
    assert "+    return 'one'" in told and "return 2" not in told
    assert [hunk.digest for hunk in only(recorder, project).hunks] == [file.hunks[1].digest]
    with pytest.raises(UsageError):  # it is gone by now
        reviewing.reject(recorder, project, only(recorder, project), file.hunks[0])


def test_what_is_kept_is_on_record_as_long_as_its_lines_stand(module: Path, project: Path, recorder) -> None:
    file = only(recorder, project)
    reviewing.keep(recorder, file, file.hunks[1])
    assert [hunk.kept for hunk in only(recorder, project).hunks] == [False, True]
    now = AFTER.replace(b"import os", b"import sys")
    apply_patch(recorder, project, {"a.py": (AFTER, now)})
    assert [hunk.kept for hunk in only(recorder, project).hunks] == [False, False, True]
    reviewing.keep(recorder, file, file.hunks[1], kept=False)
    assert not any(hunk.kept for hunk in only(recorder, project).hunks)


def test_a_file_that_somebody_changed_is_said_and_never_written(
    module: Path, project: Path, recorder
) -> None:
    file = only(recorder, project)
    module.write_bytes(AFTER + b"mine")
    assert only(recorder, project).now is Now.CHANGED
    with pytest.raises(ConflictError) as conflict:
        reviewing.reject(recorder, project, file, file.hunks[0])
    assert "+endmine" in conflict.value.diff and module.read_bytes() == AFTER + b"mine"
    module.unlink()
    assert only(recorder, project).now is Now.GONE
    module.symlink_to("/etc/passwd")
    assert only(recorder, project).now is Now.CHANGED


def test_new_and_removed_files_are_one_hunk(project: Path, recorder) -> None:
    (project / "old.txt").write_bytes(b"a\nb\n")
    apply_patch(recorder, project, {"old.txt": (b"a\nb\n", None), "new/x.txt": (None, b"1\n2\n")})
    new, old = reviewing.changed(recorder.journal, project)
    reviewing.reject(recorder, project, new, new.hunks[0])
    reviewing.reject(recorder, project, old, old.hunks[0])
    assert not (project / "new" / "x.txt").exists() and (project / "old.txt").read_bytes() == b"a\nb\n"
    assert reviewing.changed(recorder.journal, project) == []


def test_undo_goes_on_from_what_review_left(module: Path, project: Path, recorder, watcher) -> None:
    file = only(recorder, project)
    reviewing.reject(recorder, project, file, file.hunks[0])
    undo_latest(recorder, project)  # of the rejection
    assert module.read_bytes() == AFTER
    reviewing.reject(recorder, project, file, file.hunks[1])
    recorder.journal.close()
    run_undo(recorder.journal.path, watcher)
    assert module.read_bytes() == BEFORE


def test_what_was_undone_is_not_shown_and_foreign_changes_are_not_ours(
    module: Path, project: Path, recorder
) -> None:
    theirs = AFTER + b"\ntheirs\n"
    module.write_bytes(theirs)
    apply_patch(recorder, project, {"a.py": (theirs, theirs + b"ours\n")})
    file = only(recorder, project)
    assert file.before == theirs and file.counts == (1, 0)
    undo_latest(recorder, project)
    assert only(recorder, project).before == BEFORE


@given(
    st.lists(st.sampled_from("abc"), max_size=12), st.lists(st.sampled_from("abc"), max_size=12), st.randoms()
)
def test_hunks_taken_back_in_any_order_come_to_what_was_before(old, new, chance) -> None:
    before, after = "\n".join(old).encode(), "\n".join(new).encode()
    while before != after:
        file = Changed("f", before, after, 0o644, tuple(reviewing._hunks(before, after)))
        left = file.without(chance.choice(file.hunks))
        assert left is not None and left != after
        hunks = reviewing._hunks(before, left) if left != before else []
        assert len(hunks) <= len(file.hunks)
        after = left
