"""Attacks on the network and on programs that listen: listeners on this machine's loopback are the canaries."""

from __future__ import annotations

import os
import secrets
import shutil
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from deskagent.terminal.types import Rung


class Listener:
    """A socket of the host that counts who reached it."""

    def __init__(self, family: int, kind: int, address: object) -> None:
        self.reached: list[bytes] = []
        self._socket = socket.socket(family, kind)
        self._socket.bind(address)
        if kind == socket.SOCK_STREAM:
            self._socket.listen()
        self.address = self._socket.getsockname()
        self._stream = kind == socket.SOCK_STREAM
        threading.Thread(target=self._serve, daemon=True).start()

    def _serve(self) -> None:
        while True:
            try:
                if self._stream:
                    self._socket.accept()[0].close()
                    self.reached.append(b"connected")
                else:
                    self.reached.append(self._socket.recv(100))
            except OSError:
                return

    def close(self) -> None:
        self._socket.shutdown(socket.SHUT_RDWR) if self._stream else None
        self._socket.close()


@pytest.fixture
def listen() -> Iterator:
    made: list[Listener] = []

    def start(family: int, kind: int, address: object) -> Listener:
        try:
            made.append(Listener(family, kind, address))
        except OSError as error:
            pytest.skip(f"this machine can't listen on {address}: {error}")
        return made[-1]

    yield start
    for listener in made:
        listener.close()


@pytest.mark.parametrize("address", ["127.0.0.1", "::1"])
def test_tcp_to_this_machine_fails(box, listen, address: str) -> None:
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    listener = listen(family, socket.SOCK_STREAM, (address, 0))
    code = """
    family, address, port = int(sys.argv[1]), sys.argv[2], int(sys.argv[3])
    print(tried(lambda: socket.socket(family, socket.SOCK_STREAM).connect((address, port))))
    """
    assert box.python(code, int(family), address, listener.address[1]) in ("ECONNREFUSED", "EACCES")
    assert listener.reached == []


def test_udp_to_this_machine_fails(box, listen) -> None:
    listener = listen(socket.AF_INET, socket.SOCK_DGRAM, ("127.0.0.1", 0))
    code = """
    port = int(sys.argv[1])
    def send():
        s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        s.sendto(b"dns", ("127.0.0.1", port))
    print(tried(send))
    """
    box.python(code, listener.address[1])
    probe = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    probe.sendto(b"end", listener.address)  # what was sent before has arrived before
    probe.close()
    while b"end" not in listener.reached:
        pass
    assert listener.reached == [b"end"]


def test_tools_reach_nothing(box, listen) -> None:
    listener = listen(socket.AF_INET, socket.SOCK_STREAM, ("127.0.0.1", 0))
    port = listener.address[1]
    lines = [f"exec 3<>/dev/tcp/127.0.0.1/{port} && echo reached", f"exec 3<>/dev/udp/127.0.0.1/{port}"]
    if shutil.which("curl"):
        lines.append(f"curl -sS --max-time 5 http://127.0.0.1:{port}/ && echo reached")
    if shutil.which("git"):
        lines.append(f"git ls-remote http://127.0.0.1:{port}/x && echo reached")
    for line in lines:
        assert "reached" not in box.run("/usr/bin/env", "bash", "-c", line).stdout
    assert listener.reached == []


def test_there_is_no_way_out_but_loopback(bwrap) -> None:
    """No interface and no route: nothing for the metadata address, a name server or any other host."""
    code = """
    print([name for _, name in socket.if_nameindex()])
    for address in ("169.254.169.254", "192.0.2.1"):
        print(tried(lambda: socket.socket(socket.AF_INET, socket.SOCK_DGRAM).connect((address, 80))))
    """
    assert bwrap.python(code).split("\n") == ["['lo']", "ENETUNREACH", "ENETUNREACH"]


def test_landlock_has_no_sockets_but_unix_streams(landlock) -> None:
    code = """
    for family in (socket.AF_INET, socket.AF_INET6, socket.AF_NETLINK, socket.AF_PACKET):
        for kind in (socket.SOCK_STREAM, socket.SOCK_DGRAM, socket.SOCK_RAW):
            print(tried(lambda: socket.socket(family, kind)))
    # a family with bits set that the kernel ignores
    print(tried(lambda: call(SOCKET, (1 << 32) | 2, 1, 0)))
    print(tried(lambda: socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)))
    print(tried(lambda: socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)))
    print(tried(lambda: socket.socket(socket.AF_UNIX, socket.SOCK_RAW)))
    """
    number = {"x86_64": 41}.get(os.uname().machine, 198)
    assert set(landlock.python(f"SOCKET = {number}\n" + _dedent(code)).split()) == {"EACCES"}


def _dedent(code: str) -> str:
    return "\n".join(line[4:] for line in code.splitlines())


def test_odd_families_are_refused(box) -> None:
    code = """
    families = {"packet": 17, "vsock": 40, "alg": 38, "bluetooth": 31, "can": 29, "tipc": 30, "xdp": 44, "key": 15}
    for name, family in families.items():
        for kind in (1, 2, 3, 5):
            print(name, tried(lambda: socket.socket(family, kind)))
    print("netlink audit", tried(lambda: socket.socket(16, 3, 9)))
    """
    assert {line.split()[-1] for line in box.python(code).splitlines()} == {"EACCES"}


def test_own_loopback_works(bwrap) -> None:
    code = """
    import threading
    for family, address in ((socket.AF_INET, "127.0.0.1"), (socket.AF_INET6, "::1")):
        if family == socket.AF_INET6 and not os.path.exists("/proc/net/if_inet6"):
            continue
        server = socket.create_server((address, 0), family=family)
        client = socket.create_connection(server.getsockname()[:2])
        server.accept()[0].sendall(b"hello")
        print(client.recv(5).decode())
    """
    assert set(bwrap.python(code).split()) == {"hello"}


def test_two_commands_don_t_share_a_loopback(bwrap) -> None:
    code = "print(socket.create_server(('127.0.0.1', 47321)).getsockname()[1])"
    assert [bwrap.python(code) for _ in range(2)] == ["47321"] * 2


def test_network_can_be_allowed(box, listen) -> None:
    listener = listen(socket.AF_INET, socket.SOCK_STREAM, ("127.0.0.1", 0))
    code = "print(tried(lambda: socket.create_connection(('127.0.0.1', int(sys.argv[1])))))"
    assert box.python(code, listener.address[1], policy=box.allowing(network=True)) == "done"


UNIX = """
path = sys.argv[1]
def stream(): socket.socket(socket.AF_UNIX, socket.SOCK_STREAM).connect(path)
def packet(): socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET).connect(path)
def datagram(): socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM).sendto(b"x", path)
def pair(): socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)[0].sendto(b"x", path)
def by_link(): os.symlink(path, "door"); socket.socket(socket.AF_UNIX).connect("door")
def by_proc(): socket.socket(socket.AF_UNIX).connect(f"/proc/self/fd/{os.open(path, os.O_PATH)}")
def by_root(): socket.socket(socket.AF_UNIX).connect("/proc/self/root" + path)
for act in (stream, packet, datagram, pair, by_link, by_proc, by_root):
    print(act.__name__, tried(act))
"""


@pytest.mark.parametrize("kind", [socket.SOCK_STREAM, socket.SOCK_DGRAM])
@pytest.mark.parametrize("place", ["outside", "tmp"])
def test_sockets_of_others(box, listen, tmp_path: Path, place: str, kind) -> None:
    """Like docker.sock, the session bus, an ssh agent or tmux, also where the folder itself can be seen."""
    folder = box.outside if place == "outside" else Path("/tmp")
    path = folder / f"da-{secrets.token_hex(4)}.sock"
    listener = listen(socket.AF_UNIX, kind, str(path))
    try:
        answers = dict(line.split() for line in box.python(UNIX, path).splitlines())
    finally:
        path.unlink()
    assert "done" not in answers.values(), answers
    assert listener.reached == []


def test_abstract_sockets_of_other_programs_are_out_of_reach(box, listen) -> None:
    name = f"deskagent-test-{secrets.token_hex(8)}"
    listener = listen(socket.AF_UNIX, socket.SOCK_STREAM, "\0" + name)
    code = "print(tried(lambda: socket.socket(socket.AF_UNIX).connect('\\0' + sys.argv[1])))"
    assert box.python(code, name) in ("ECONNREFUSED", "EACCES", "EPERM")
    assert listener.reached == []


def test_own_unix_sockets_work(box) -> None:
    code = """
    import threading
    for path in (os.path.abspath("own.sock"), "own2.sock"):
        server = socket.socket(socket.AF_UNIX)
        server.bind(path)
        server.listen(0)
        client = socket.socket(socket.AF_UNIX)
        client.connect(path)
        server.accept()[0].sendall(b"hello")
        print(client.recv(5).decode(), tried(lambda: socket.socket(socket.AF_UNIX).connect("absent.sock")))
    a, b = socket.socketpair()
    a.sendall(b"pair")
    print(b.recv(4).decode())
    """
    assert box.python(code).split("\n") == ["hello ENOENT", "hello ENOENT", "pair"]


def test_a_connection_that_waits_holds_nobody_up(landlock) -> None:
    """A full queue stops the caller of connect alone, not the other calls that are watched."""
    code = """
    import threading
    server = socket.socket(socket.AF_UNIX)
    server.bind("full.sock")
    server.listen(0)
    def connect():
        socket.socket(socket.AF_UNIX).connect("full.sock")
    for _ in range(3):
        threading.Thread(target=connect, daemon=True).start()
    open("file", "w").close()
    os.chmod("file", 0o600)
    print(oct(os.stat("file").st_mode))
    sys.stdout.flush()
    os._exit(0)
    """
    assert landlock.python(code) == "0o100600"


def test_no_io_uring(box) -> None:
    """It would open files and sockets behind the filter's back."""
    code = """
    p = ctypes.create_string_buffer(120)
    print(tried(lambda: call(425, 8, ctypes.addressof(p))))
    """
    assert box.python(code) == "ENOSYS"


def test_inherited_descriptors(box) -> None:
    """What the host has open isn't open inside unless it is handed over by number."""
    with (box.home / ".netrc").open() as secret:
        os.set_inheritable(secret.fileno(), True)
        code = """
        for name in sorted(os.listdir("/proc/self/fd"), key=int):
            if int(name) > 2:
                print(name, tried(lambda: os.fstat(int(name))))
        """
        lines = box.python(code).splitlines()
        assert [line for line in lines if line.endswith("done")] == []
        handed = box.python(
            "print(os.read(int(sys.argv[1]), 99).decode())", secret.fileno(), pass_fds=(secret.fileno(),)
        )
        assert handed == "SECRET PASSWORD"


@pytest.mark.skipif(sys.platform != "linux", reason="Linux only")
def test_rung_is_what_it_says(box) -> None:
    namespaces = {
        name: str(Path("/proc/self/ns", name).readlink()) for name in ("net", "pid", "ipc", "mnt", "uts")
    }
    inside = box.shell("cd /proc/self/ns; for n in net pid ipc mnt uts; do readlink $n; done").stdout.split()
    shared = set(inside) & set(namespaces.values())
    assert len(shared) == (0 if box.sandbox.rung is Rung.BWRAP else 5)


def test_bash_is_there() -> None:
    """The shell that has /dev/tcp: without it test_tools_reach_nothing says nothing."""
    assert subprocess.run(["bash", "-c", ":"], check=False).returncode == 0
