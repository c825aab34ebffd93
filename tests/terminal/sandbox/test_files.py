"""Attacks on files: nothing outside is written, no secret is read, whatever road is taken."""

from __future__ import annotations

import os
import stat
import subprocess
from pathlib import Path

import pytest

from deskagent.terminal.sandbox.landlock import Landlock
from deskagent.terminal.types import Rung

WRITES = {
    "absolute": "open(target, 'w').close()",
    "append": "open(target, 'a').write('x')",
    "dotdot": "open(os.path.relpath(target), 'w').close()",
    "symlink": "os.symlink(target, 'link'); open('link', 'w').close()",
    "symlink to its folder": "os.symlink(folder, 'away'); open('away/canary', 'w').close()",
    "proc root": "open('/proc/self/root' + target, 'w').close()",
    "proc cwd": "open('/proc/self/cwd/../outside/canary', 'w').close()",
    "read then trunc": "os.open(target, os.O_RDONLY | os.O_TRUNC)",
    "truncate": "os.truncate(target, 0)",
    "hard link": "os.link(target, 'hard'); open('hard', 'w').close()",
    "rename over": "open('mine', 'w').close(); os.rename('mine', target)",
    "rename away": "os.rename(target, 'taken')",
    "unlink": "os.unlink(target)",
    "folder descriptor": "d = os.open(folder, os.O_RDONLY); os.open('new', os.O_CREAT | os.O_WRONLY, dir_fd=d)",
    "path descriptor": "p = os.open(target, os.O_PATH); open(f'/proc/self/fd/{p}', 'w').close()",
    "reopened": "r = open(target); open(f'/dev/fd/{r.fileno()}', 'w').close()",
    "create": "open(folder + '/new', 'x').close()",
    "mkdir": "os.mkdir(folder + '/new')",
    "rmdir": "os.rmdir(folder + '/folder')",
    "mkfifo": "os.mkfifo(folder + '/new')",
    "symlink there": "os.symlink('x', folder + '/new')",
    "chmod": "os.chmod(target, 0o777)",
    "chmod folder": "os.chmod(folder, 0o777)",
    "chmod by symlink": "os.symlink(target, 'l2'); os.chmod('l2', 0o777)",
    "chmod by proc": "r = os.open(target, os.O_RDONLY); os.chmod(f'/proc/self/fd/{r}', 0o777)",
    "fchmod": "os.fchmod(os.open(target, os.O_RDONLY), 0o777)",
    "chmod at": "os.chmod('canary', 0o777, dir_fd=os.open(folder, os.O_RDONLY))",
    "chmod dotdot": "os.chmod('../outside/canary', 0o777)",
    "fchmodat2": "call(452, -100, ctypes.addressof(ctypes.create_string_buffer(target.encode())), 0o777, 0)",
    "chown": "os.chown(target, os.getuid(), os.getgid())",
    "lchown": "os.lchown(target, os.getuid(), os.getgid())",
    "fchown": "os.fchown(os.open(target, os.O_RDONLY), os.getuid(), os.getgid())",
    "utime": "os.utime(target, (1, 1))",
    "utime of a descriptor": "os.utime(os.open(target, os.O_RDONLY), (1, 1))",
    "setxattr": "os.setxattr(target, 'user.x', b'x')",
    "socket there": "socket.socket(socket.AF_UNIX).bind(folder + '/new')",
}


def _state(folder: Path) -> list[tuple]:
    found = []
    for path in [folder, *sorted(folder.rglob("*"))]:
        info = path.lstat()
        data = path.read_bytes() if stat.S_ISREG(info.st_mode) else b""
        found.append((str(path), info.st_mode, info.st_uid, info.st_mtime_ns, info.st_ctime_ns, data))
    return found


def _nothing_is_written(box) -> None:
    before = _state(box.outside)
    code = f"""
    target, folder = sys.argv[1:]
    for name, line in {WRITES!r}.items():
        print(name, "=", tried(lambda: exec(line)))
    """
    answers = dict(
        line.split(" = ") for line in box.python(code, box.outside / "canary", box.outside).splitlines()
    )
    assert answers.keys() == WRITES.keys()
    assert {name for name, outcome in answers.items() if outcome == "done"} == set()
    assert _state(box.outside) == before


def test_no_write_leaves_the_workspace(box) -> None:
    _nothing_is_written(box)


@pytest.mark.parametrize("version", [1, 2, 3, 5])
def test_nor_on_kernels_with_an_older_landlock(landlock, version: int) -> None:
    """Before version 3 Landlock lets files be truncated: the filter doesn't."""
    landlock.sandbox = Landlock(version)
    _nothing_is_written(landlock)
    assert landlock.shell("echo x > a; echo y > a; mv a b; cat b").stdout == "y\n"


def test_a_path_swapped_between_check_and_use(box) -> None:
    """One thread turns a link to and fro while another changes what it points to."""
    before = _state(box.outside)
    code = """
    import threading, time
    target, end = sys.argv[1], time.monotonic() + 1
    open("mine", "w").close()
    def turn():
        n = 0
        while time.monotonic() < end:
            n += 1
            os.symlink(("mine", target)[n % 2], "next"); os.rename("next", "link")
    os.symlink("mine", "link")
    thread = threading.Thread(target=turn); thread.start()
    done = 0
    while time.monotonic() < end:
        for act in (lambda: os.chmod("link", 0o666), lambda: os.utime("link", (1, 1)), lambda: open("link", "w")):
            done += tried(act) == "done"
    thread.join()
    print(done > 0)
    """
    assert box.python(code, box.outside / "canary") == "True"
    assert _state(box.outside) == before


@pytest.mark.parametrize("cwd", ["/", "home"])
def test_the_working_folder_widens_nothing(box, cwd: str) -> None:
    folder = Path("/") if cwd == "/" else box.home
    done = box.shell("touch here; touch ./notes; pwd", cwd=folder)
    assert done.stdout.strip() == str(folder)
    assert not (folder / "here").exists()
    assert (box.work / "x").exists() or box.shell("touch x").returncode == 0


def test_system_folders_are_not_writable(box) -> None:
    code = """
    for folder in ("/", "/etc", "/usr", "/usr/bin", "/var", "/opt", "/home", "/root", "/dev", "/sys", "/proc", "/boot"):
        if os.path.isdir(folder):
            print(folder, tried(lambda: open(folder + "/deskagent-canary", "x").close()))
    for path in ("/proc/sys/kernel/core_pattern", "/proc/sysrq-trigger", "/proc/sys/kernel/hostname"):
        if os.path.exists(path):
            print(path, tried(lambda: os.open(path, os.O_WRONLY)))
    """
    answers = dict(line.split() for line in box.python(code).splitlines())
    if box.sandbox.rung is Rung.BWRAP:
        answers.pop("/dev", None)  # a fresh one, gone with the command
    assert answers and "done" not in answers.values()
    assert not Path("/dev/deskagent-canary").exists()


READS = {
    "key": "print(open(home + '/.ssh/id_ed25519').read())",
    "file": "print(open(home + '/.netrc').read())",
    "symlinked folder": "print(open(home + '/.aws/credentials').read())",
    "its target": "print(open(outside + '/clouds/credentials').read())",
    "proc root": "print(open('/proc/self/root' + home + '/.ssh/id_ed25519').read())",
    "dotdot": "print(open('../home/.ssh/../.ssh/id_ed25519').read())",
    "own symlink": "os.symlink(home + '/.ssh', 'keys'); print(open('keys/id_ed25519').read())",
    "hard link": "os.link(home + '/.netrc', 'stolen'); print(open('stolen').read())",
    "rename": "os.rename(home + '/.ssh', 'ssh'); print(open('ssh/id_ed25519').read())",
    "folder descriptor": "d = os.open(home, os.O_PATH); print(open(os.open('.netrc', os.O_RDONLY, dir_fd=d)).read())",
    "path descriptor": "p = os.open(home + '/.netrc', os.O_PATH); print(open(f'/proc/self/fd/{p}').read())",
}


def test_secrets_are_not_read(box) -> None:
    code = f"""
    home, outside = sys.argv[1:]
    for name, line in {READS!r}.items():
        print(name, "=", tried(lambda: exec(line)))
    print(open(home + "/notes").read())
    """
    output = box.python(code, box.home, box.outside)
    assert "SECRET" not in output
    assert output.count(" = E") == len(READS)
    assert output.endswith("notes")  # the rest of the home stays readable
    assert (box.home / ".ssh" / "id_ed25519").read_text() == "SECRET KEY"


def test_extra_paths_are_hidden(box) -> None:
    policy = box.allowing(hidden=(box.outside / "canary",))
    done = box.shell(f"cat {box.outside}/canary; ls {box.outside}", policy=policy)
    assert "whole" not in done.stdout
    assert "folder" in done.stdout


def test_secrets_of_the_system_are_not_read(box) -> None:
    readable = [p for p in ("/etc/shadow", "/etc/gshadow") if os.access(p, os.R_OK)]
    if not readable:
        pytest.skip("this user can't read them outside either")
    done = box.shell(f"cat {' '.join(readable)}")
    assert done.stdout == ""


def test_programs_don_t_become_setuid(box) -> None:
    code = """
    open("tool", "w").close()
    print(tried(lambda: os.chmod("tool", 0o4755)))
    print(tried(lambda: os.fchmod(os.open("tool", os.O_RDONLY), 0o4755)))
    print(tried(lambda: os.open("born", os.O_CREAT | os.O_WRONLY, 0o4755)))
    print(tried(lambda: os.mknod("node", 0o104755)))
    print(tried(lambda: os.open("group", os.O_CREAT | os.O_WRONLY, 0o2755)))
    """
    assert set(box.python(code).split()) <= {"EPERM"}
    for path in box.work.iterdir():
        assert path.stat().st_mode & 0o6000 == 0


def test_devices_are_out_of_reach(box) -> None:
    code = """
    print(tried(lambda: os.mknod("disk", 0o060600, os.makedev(8, 0))))
    for name in sorted(os.listdir("/dev")):
        path = "/dev/" + name
        if os.path.exists(path) and not os.path.isdir(path) and name not in sys.argv[1:]:
            print(name, tried(lambda: os.open(path, os.O_RDONLY | os.O_NONBLOCK)))
    """
    usual = (
        "null",
        "zero",
        "full",
        "random",
        "urandom",
        "tty",
        "ptmx",
        "stdin",
        "stdout",
        "stderr",
        "core",
        "fd",
    )
    output = box.python(code, *usual)
    assert "done" not in output


def test_later_commands_don_t_find_more_than_earlier_ones(box) -> None:
    """What one command leaves in the workspace opens no door for the next."""
    box.shell(f"ln -s {box.home}/.ssh keys; ln -s {box.outside} away; ln -s / root; mkdir -p a/b")
    done = box.shell("cat keys/id_ed25519; echo x > away/canary; echo x > root/etc/canary")
    assert "SECRET" not in done.stdout
    assert (box.outside / "canary").read_text() == "whole"
    assert not Path("/etc/canary").exists()


def test_the_workspace_can_t_be_swapped_for_a_link(box) -> None:
    box.shell(
        f"cd /; mv {box.work} {box.work}-moved && ln -s {box.outside} {box.work}; echo x > {box.work}/canary"
    )
    assert not box.work.is_symlink()
    assert not box.work.with_name("work-moved").exists()
    assert (box.outside / "canary").read_text() == "whole"


def test_git_in_the_workspace_still_reads(box) -> None:
    subprocess.run(["git", "init", "-q", box.work], check=True)
    (box.work / "a.txt").write_text("a")
    done = box.run("/usr/bin/env", "git", "status", "--short")
    assert done.stdout.split() == ["??", "a.txt"], done.stderr
