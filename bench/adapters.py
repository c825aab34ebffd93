"""Cases made on the spot from other people's code: QuixBugs, and fixes out of real histories.

Nothing of it is kept: the trees are made in a scratch folder that the caller names and removes.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import tarfile
from pathlib import Path

from formats import Case


def quixbugs(work_tree: Path, scratch: Path) -> list[Case]:
    """One case a program of an exported QuixBugs work tree, each in a tree of its own without the answers."""
    cases = []
    programs = work_tree / "python_programs"
    for test in sorted((work_tree / "python_testcases").glob("test_*.py")):
        name = test.stem.removeprefix("test_")
        tree = scratch / name
        for folder in ("python_programs", "python_testcases", "json_testcases"):
            (tree / folder).mkdir(parents=True)
        shutil.copy(work_tree / "conftest.py", tree)
        for helper in ("node.py", "load_testdata.py"):
            if (work_tree / "python_testcases" / helper).is_file():
                shutil.copy(work_tree / "python_testcases" / helper, tree / "python_testcases")
        if (programs / "node.py").is_file():
            shutil.copy(programs / "node.py", tree / "python_programs")
        shutil.copy(programs / f"{name}.py", tree / "python_programs")
        shutil.copy(test, tree / "python_testcases")
        data = work_tree / "json_testcases" / f"{name}.json"
        if data.is_file():
            shutil.copy(data, tree / "json_testcases")
        path = f"python_programs/{name}.py"
        answer = (work_tree / "correct_python_programs" / f"{name}.py").read_bytes()
        cases.append(
            Case(
                name=name,
                kind="quixbugs",
                request=f"{name} gives wrong answers",
                test=f"python -m pytest -q python_testcases/{test.name}",
                failing=(),
                trees=(tree,),
                answers=({path: answer},),
            )
        )
    return cases


def git_dir(repo: str, mirrors: Path) -> Path:
    """The bare git directory of owner/name below `mirrors` (owner+name/repo, owner+name or owner/name)."""
    for path in (repo.replace("/", "+") + "/repo", repo.replace("/", "+"), repo, repo + ".git"):
        if (mirrors / path / "HEAD").is_file():
            return mirrors / path
    raise FileNotFoundError(f"no git directory of {repo} below {mirrors}")


def git(directory: Path, *words: str) -> bytes:
    """What git prints, its configuration of this machine and the repository's hooks left aside."""
    env = {**os.environ, "GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_SYSTEM": "/dev/null"}
    command = ["git", "--git-dir", str(directory), "-c", "core.hooksPath=/dev/null", *words]
    done = subprocess.run(command, capture_output=True, env=env, check=False)
    if done.returncode:
        raise RuntimeError(f"git {' '.join(words)}: {done.stderr.decode('utf-8', 'replace').strip()}")
    return done.stdout


def subject_of(directory: Path, commit: str) -> str:
    """The first line of a commit's message."""
    return git(directory, "show", "-s", "--format=%s", commit).decode("utf-8", "replace").strip()


def export(directory: Path, commit: str, into: Path) -> None:
    """The files of a commit, without links that lead out."""
    into.mkdir(parents=True, exist_ok=True)
    child = subprocess.Popen(["git", "--git-dir", str(directory), "archive", commit], stdout=subprocess.PIPE)
    with tarfile.open(fileobj=child.stdout, mode="r|") as archive:
        archive.extractall(into, filter="data")
    if child.wait():
        raise RuntimeError(f"git archive {commit} in {directory} ended with {child.returncode}")


def test_command(test_files: list[str]) -> str:
    """How the tests of a real repository are run without installing it."""
    return "PYTHONPATH=.:src python -m pytest -q -o addopts= " + " ".join(test_files)


def real(facts: dict, mirrors: Path, scratch: Path) -> Case:
    """The case of one fix out of a history: the parent's tree with the fix's tests in it."""
    directory = git_dir(facts["repo"], mirrors)
    tree = scratch / facts["name"]
    export(directory, facts["parent"], tree)
    for path in facts["test_files"]:
        (tree / path).parent.mkdir(parents=True, exist_ok=True)
        (tree / path).write_bytes(git(directory, "show", f"{facts['fix']}:{path}"))
    subject = (
        facts.get("subject") or git(directory, "show", "-s", "--format=%s", facts["fix"]).decode().strip()
    )
    source = facts["source"]
    return Case(
        name=facts["name"],
        kind=facts.get("kind", "real"),
        request=f"{subject}\n\nFailing: {', '.join(facts['fail_to_pass'])}",
        test=test_command(facts["test_files"]),
        failing=tuple(facts["fail_to_pass"]),
        trees=(tree,),
        answers=({source: git(directory, "show", f"{facts['fix']}:{source}")},),
        set=facts.get("set", "tune"),
    )


def read_real(file: Path) -> list[dict]:
    """The facts in a JSON file: a list of them, or one a line."""
    text = file.read_text("utf-8")
    if text.lstrip().startswith("["):
        return json.loads(text)
    return [json.loads(line) for line in text.splitlines() if line.strip()]
