from __future__ import annotations

import os
import shlex
from collections.abc import Callable
from pathlib import Path

import pytest

from deskagent.errors import UsageError
from deskagent.repo import history

Git = Callable[..., str]


def commit(repo: Path, git: Git, files: dict[str, str | None], subject: str) -> str:
    for name, text in files.items():
        path = repo / name
        if text is None:
            path.unlink()
        else:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(text.encode())
    git(repo, "add", "-A")
    git(repo, "commit", "-qm", subject)
    return git(repo, "rev-parse", "HEAD")


def test_a_commit_by_any_name_and_none_by_others(repo: Path, git: Git) -> None:
    tip = commit(repo, git, {"a.py": "1\n"}, "ändert 'a'\n\nbody")
    git(repo, "tag", "v1")
    for name in ("HEAD", "main", "v1", tip, tip[:8], "HEAD~0"):
        found = history.commit(repo, name)
        assert found and (found.id, found.subject) == (tip, "ändert 'a'")
    for name in ("", "nope", "HEAD~9", "--all", "HEAD:a.py", "a\0b", "-n1"):
        assert history.commit(repo, name) is None


def test_the_line_of_first_parents_and_what_a_branch_brought(repo: Path, git: Git) -> None:
    base = git(repo, "rev-parse", "HEAD")
    git(repo, "checkout", "-qb", "side")
    inner = [commit(repo, git, {"side.py": f"{n}\n"}, f"side {n}") for n in range(3)]
    git(repo, "checkout", "-q", "main")
    own = commit(repo, git, {"main.py": "1\n"}, "main")
    git(repo, "merge", "-q", "--no-ff", "-m", "merge", "side")
    merge = git(repo, "rev-parse", "HEAD")
    assert [c.id for c in history.line(repo, merge, limit=9)] == [merge, own, base]
    assert [c.id for c in history.line(repo, inner[-1], limit=9, without=own)] == inner[::-1]
    assert [c.id for c in history.line(repo, merge, limit=2)] == [merge, own]
    assert history.merge_base(repo, own, inner[-1]) == base
    assert history.is_ancestor(repo, base, merge) and history.is_ancestor(repo, merge, merge)
    assert not history.is_ancestor(repo, own, inner[-1])
    found = history.commit(repo, merge)
    assert found and found.parents == (own, inner[-1])


def test_what_two_commits_hold_differently(repo: Path, git: Git) -> None:
    one = commit(repo, git, {"a.py": "1\n", "b.py": "2\n", "sp ace\tü.py": "3\n"}, "one")
    (repo / "link").symlink_to("a.py")
    two = commit(repo, git, {"a.py": None, "c.py": "2\n", "sp ace\tü.py": "4\n"}, "two")
    found = {entry.path: entry for entry in history.changed(repo, one, two)}
    assert found.keys() == {"a.py", "c.py", "sp ace\tü.py", "link"}
    assert found["a.py"].after is None and found["c.py"].before is None
    assert found["sp ace\tü.py"].before and found["sp ace\tü.py"].after
    assert not found["link"].plain and found["a.py"].plain
    assert history.changed(repo, two, two) == ()


def test_what_is_not_committed(repo: Path, git: Git) -> None:
    commit(repo, git, {"a.py": "1\n", "b.py": "2\n"}, "one")
    assert history.uncommitted(repo) == ()
    (repo / "a.py").write_text("changed\n")
    (repo / "b.py").unlink()
    (repo / "staged.py").write_text("new\n")
    (repo / "untracked.py").write_text("new\n")
    git(repo, "add", "staged.py")
    found = {entry.path: entry for entry in history.uncommitted(repo)}
    assert found.keys() == {"a.py", "b.py", "staged.py"}
    assert found["staged.py"].before is None and found["a.py"].before


def test_lines_that_differ_from_a_commit_headers_in_the_text_included(repo: Path, git: Git) -> None:
    old = commit(repo, git, {"a.py": "1\n2\n-- x\n++ b/b.py\n5\n6", "b.py": "1\n"}, "one")
    new = commit(repo, git, {"a.py": "1\nII\n5\n6\n++ b/b.py\n"}, "two")
    (repo / "b.py").write_text("0\n1\n")
    since, fresh = history.touched_lines(repo, (old, new), ("a.py", "b.py"))
    assert since == {"a.py": {2, 4, 5}, "b.py": {1}}
    assert fresh == {"b.py": {1}}
    assert history.touched_lines(repo, (old,), ("b.py",)) == ({"b.py": {1}},)


def test_the_index_is_not_refreshed(repo: Path, git: Git) -> None:
    for path in git(repo, "ls-files").splitlines():
        os.utime(repo / path, (1, 1))  # as git sees it the file may have changed, and hasn't
    index = (repo / ".git" / "index").read_bytes()
    history.touched_lines(repo, ["HEAD"], git(repo, "ls-files").splitlines())
    history.uncommitted(repo)
    assert (repo / ".git" / "index").read_bytes() == index


def test_without_a_commit_or_with_a_broken_one(project: Path, git: Git) -> None:
    git(project, "init", "-q")
    assert history.commit(project, "HEAD") is None
    (project / ".git" / "HEAD").write_text("rubbish")
    with pytest.raises(UsageError):
        history.commit(project, "HEAD")


def test_nothing_of_the_repository_is_run(repo: Path, git: Git, tmp_path: Path) -> None:
    canary = tmp_path / "canary"
    first = git(repo, "rev-parse", "HEAD")
    tip = commit(
        repo, git, {"pkg/core.py": "x\n", ".gitattributes": "* filter=evil diff=evil\n"}, "attributes"
    )
    bite = f"sh -c {shlex.quote(f'echo x >> {shlex.quote(str(canary))}; cat')}"
    for key in ("core.fsmonitor", "core.pager", "pager.log", "diff.external", "diff.evil.textconv", "diff.evil.command",
                "filter.evil.clean", "filter.evil.smudge", "gpg.program", "alias.log", "core.sshCommand"):  # fmt: skip
        git(repo, "config", key, bite)
    git(repo, "config", "log.showSignature", "true")
    (repo / "pkg" / "core.py").write_text("y\n")
    history.commit(repo, "HEAD")
    history.line(repo, tip, limit=5)
    history.changed(repo, first, tip)
    assert history.uncommitted(repo)
    assert history.touched_lines(repo, (first, tip), ("pkg/core.py",))
    history.is_shallow(repo), history.merge_base(repo, first, tip), history.is_ancestor(repo, first, tip)
    assert not canary.exists()


def test_a_shallow_clone_says_so(repo: Path, git: Git, tmp_path: Path) -> None:
    commit(repo, git, {"a.py": "1\n"}, "two")
    git(tmp_path, "clone", "-q", "--depth", "1", f"file://{repo}", "clone")
    assert history.is_shallow(tmp_path / "clone") and not history.is_shallow(repo)
    assert len(history.line(tmp_path / "clone", "HEAD", limit=9)) == 1
