"""Attacks on other processes and on the kernel."""

from __future__ import annotations

import os
import platform
import subprocess
import sys

import pytest

from deskagent.terminal.sandbox.syscalls import this_machine
from deskagent.terminal.types import Rung


def number(name: str) -> int:
    machine = this_machine()
    assert machine is not None
    found = machine.number(name)
    assert found is not None
    return found


REFUSED = {
    "mount": "call({mount}, A(b'none'), A(b'/mnt'), A(b'tmpfs'), 0, 0)",
    "bind mount": "call({mount}, A(b'/'), A(b'/mnt'), 0, 4096, 0)",
    "umount": "call({umount2}, A(b'/proc'), 2)",
    "fsopen": "call({fsopen}, A(b'tmpfs'), 0)",
    "open_tree": "call({open_tree}, -100, A(b'/'), 1)",
    "pivot_root": "call({pivot_root}, A(b'/'), A(b'/'))",
    "chroot": "os.chroot('.')",
    "user namespace": "call({unshare}, 0x10000000)",
    "user and mount namespace": "call({unshare}, 0x10020000)",
    "network namespace": "call({unshare}, 0x40000000)",
    "user namespace by clone": "call({clone}, 0x10000000 | 17, 0, 0, 0, 0)",
    "user namespace by clone, high bits": "call({clone}, (1 << 40) | 0x10000000 | 17, 0, 0, 0, 0)",
    "setns": "call({setns}, os.open('/proc/self/ns/net', os.O_RDONLY), 0)",
    "keyctl": "call({keyctl}, 0, -3, 1)",
    "add_key": "call({add_key}, A(b'user'), A(b'x'), A(b'y'), 1, -2)",
    "request_key": "call({request_key}, A(b'user'), A(b'x'), 0, -2)",
    "bpf": "call({bpf}, 0, 0, 0)",
    "perf": "call({perf_event_open}, A(bytes(128)), 0, -1, -1, 0)",
    "userfaultfd": "call({userfaultfd}, 1)",
    "ptrace": "call({ptrace}, 0, 0, 0, 0)",
    "ptrace attach": "call({ptrace}, 16, int(sys.argv[1]), 0, 0)",
    "process_vm_readv": "call({process_vm_readv}, int(sys.argv[1]), 0, 0, 0, 0, 0)",
    "process_vm_writev": "call({process_vm_writev}, int(sys.argv[1]), 0, 0, 0, 0, 0)",
    "kcmp": "call({kcmp}, os.getpid(), os.getpid(), 0, 0, 0)",
    "open_by_handle_at": "call({open_by_handle_at}, -100, A(bytes(64)), 0)",
    "init_module": "call({init_module}, 0, 0, 0)",
    "kexec": "call({kexec_load}, 0, 0, 0, 0)",
    "reboot": "call({reboot}, 0, 0, 0, 0)",
    "sethostname": "socket.sethostname('owned')",
    "syslog": "call({syslog}, 3, 0, 0)",
    "quotactl": "call({quotactl}, 0, 0, 0, 0)",
    "own watcher": "call({seccomp}, 1, 8, 0)",
    "TIOCSTI": "fcntl.ioctl(0, 0x5412, b'x')",
    "TIOCSTI, high bits": "call({ioctl}, 0, (1 << 32) | 0x5412, A(b'x'))",
    "TIOCLINUX": "fcntl.ioctl(0, 0x541C, b'x')",
}
ABSENT = {
    "clone3": "call({clone3}, A(bytes(88)), 88)",
    "openat2": "call({openat2}, -100, A(b'x'), A(bytes(24)), 24)",
    "io_uring_setup": "call({io_uring_setup}, 1, A(bytes(120)))",
    "a call of the future": "call(9999)",
    "x32": "call(0x40000000 + 39)",
}


def test_calls_are_refused(box) -> None:
    names = {name for line in (*REFUSED.values(), *ABSENT.values()) for name in _names(line)}
    numbers = {name: number(name) for name in names}
    lines = {key: line.format(**numbers) for key, line in (REFUSED | ABSENT).items()}
    code = f"""
    import fcntl
    kept = []
    def A(data):
        kept.append(ctypes.create_string_buffer(data, len(data) + 1))
        return ctypes.addressof(kept[-1])
    for name, line in {lines!r}.items():
        print(name, "=", tried(lambda: exec(line)))
        sys.stdout.flush()
    """
    answers = dict(line.split(" = ") for line in box.python(code, os.getpid()).splitlines())
    assert {name: answers[name] for name in REFUSED} == dict.fromkeys(REFUSED, "EPERM")
    assert {name: answers[name] for name in ABSENT} == dict.fromkeys(ABSENT, "ENOSYS")


def _names(line: str) -> list[str]:
    return [part.split("}")[0] for part in line.split("{")[1:]]


@pytest.mark.skipif(platform.machine() != "x86_64", reason="the 32-bit entry of x86")
def test_32_bit_calls_end_the_program(box) -> None:
    """`int 0x80` reaches the kernel's other table, in which 20 is getpid."""
    code = """
    import mmap
    page = mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
    page.write(bytes.fromhex("b814000000cd80c3"))
    address = ctypes.addressof(ctypes.c_char.from_buffer(page))
    print("before", flush=True)
    ctypes.CFUNCTYPE(ctypes.c_int)(address)()
    print("after", flush=True)
    """
    script = box.work / "x.py"
    script.write_text("import ctypes\n" + "\n".join(line[4:] for line in code.splitlines()))
    done = box.run(sys.executable, "-I", str(script))
    assert done.stdout == "before\n"
    assert done.returncode in (-31, 128 + 31)


def test_processes_outside_are_out_of_reach(box, victim: subprocess.Popen[bytes]) -> None:
    code = """
    import signal
    pid = int(sys.argv[1])
    print("environ", tried(lambda: print(open(f"/proc/{pid}/environ").read())))
    print("mem", tried(lambda: os.open(f"/proc/{pid}/mem", os.O_RDWR)))
    print("maps", tried(lambda: open(f"/proc/{pid}/maps").read()))
    print("fd", tried(lambda: os.open(f"/proc/{pid}/fd/0", os.O_RDONLY)))
    print("root", tried(lambda: os.listdir(f"/proc/{pid}/root/")))
    print("cwd", tried(lambda: os.listdir(f"/proc/{pid}/cwd/")))
    print("limits", tried(lambda: __import__("resource").prlimit(pid, 0, (0, 0))))
    if sys.argv[2] == "yes":
        for number in (signal.SIGTERM, signal.SIGKILL, signal.SIGSTOP):
            print("kill", tried(lambda: os.kill(pid, number)))
        print("pidfd", tried(lambda: signal.pidfd_send_signal(os.pidfd_open(pid), signal.SIGKILL)))
    """
    signals = box.sandbox.rung is Rung.BWRAP or box.sandbox._version >= 6
    output = box.python(code, victim.pid, "yes" if signals else "no")
    assert "SECRET" not in output
    assert [line for line in output.splitlines() if line.endswith("done")] == []
    assert victim.poll() is None


def test_the_agent_s_own_environment_is_out_of_reach(box) -> None:
    """By any number in /proc: the test's process, which has a key, among them; and the launchers hold none."""
    code = """
    found = []
    for name in os.listdir("/proc"):
        if name.isdigit() and int(name) != os.getpid():
            for file in ("environ", "cmdline") if sys.argv[1] == "bwrap" else ("environ",):
                try:
                    found.append(open(f"/proc/{name}/{file}").read())
                except OSError:
                    continue
    print("KEY" if any("deskagent-key-canary" in text for text in found) else "nothing")
    """
    environment = {**os.environ, "API_KEY": "deskagent-key-canary"}
    holder = subprocess.Popen(["/bin/sleep", "600"], env=environment)
    try:
        assert box.python(code, box.sandbox.rung.value) == "nothing"
    finally:
        holder.kill()
        holder.wait()


def test_memory_of_the_sandbox_s_own_processes_is_out_of_reach(box) -> None:
    """Bubblewrap's process 1 and the launcher run below no filter: who writes to them is free of it."""
    code = """
    for pid in (1, os.getppid()):
        print(tried(lambda: os.open(f"/proc/{pid}/mem", os.O_RDWR)))
        print(tried(lambda: os.open(f"/proc/{pid}/task/{pid}/mem", os.O_RDWR)))
        print(tried(lambda: os.readlink(f"/proc/{pid}/fd/0")))
    """
    assert "done" not in box.python(code)


def test_no_capability_is_left_and_none_can_be_gained(box) -> None:
    done = box.shell("grep -E '^(Cap|NoNewPrivs|Seccomp:)' /proc/self/status")
    values = dict(line.split(":\t") for line in done.stdout.splitlines())
    assert {values[name].strip("0") for name in ("CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb")} == {
        ""
    } or (os.geteuid() != 0 and values["CapEff"].strip("0") == "")
    assert values["NoNewPrivs"] == "1"
    assert values["Seccomp"] == "2"


def test_children_are_as_confined_as_their_parent(box) -> None:
    """Also after setsid, a double fork and another program in between."""
    line = (
        f"setsid sh -c 'sh -c \"touch {box.outside}/new; cat {box.home}/.netrc; "
        "unshare -U true && echo free; grep Seccomp: /proc/self/status\"'"
    )
    done = box.run("/usr/bin/env", "bash", "-c", line)
    assert "SECRET" not in done.stdout and "free" not in done.stdout
    assert "Seccomp:\t2" in done.stdout
    assert not (box.outside / "new").exists()


@pytest.mark.parametrize(
    "name", ["LD_DEBUG", "LD_PRELOAD", "PYTHONSTARTUP", "PYTHONPATH", "BASH_ENV", "PYTHONHOME"]
)
def test_the_environment_doesn_t_act_before_the_sandbox_does(box, name: str) -> None:
    """The command's environment reaches the command alone. The canary is a log that the loader would write."""
    env = {"LD_DEBUG": "files", "LD_DEBUG_OUTPUT": str(box.outside / "loaded"), name: "files"}
    done = box.run("/bin/true", env=env)
    assert done.returncode in (0, 127)
    assert [p for p in box.outside.iterdir() if p.name.startswith("loaded")] == []


def test_sandboxes_don_t_see_each_other_s_temporary_files(box) -> None:
    first = box.shell('echo secret > "${TMPDIR:-/tmp}/note"; echo "${TMPDIR:-/tmp}"')
    second = box.shell(f'cat {first.stdout.strip()}/note; ls "${{TMPDIR:-/tmp}}"')
    assert first.returncode == 0
    assert "note" not in second.stdout and "secret" not in second.stdout
