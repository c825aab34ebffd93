"""Starts one command under Landlock and a system call filter, and answers what the filter can't decide alone.

    spawn ── this ── command ── …

Run as `python -I -S -E confine FD` with the marshalled job on descriptor FD. What runs here runs before
anything is confined: nothing is imported but C modules of the standard library and the two files beside this
one, and no environment is taken in. It stays outside to answer (watcher.py), and ends as the command ended.
"""

# ruff: noqa: PTH123, PTH208 (pathlib costs more to import than all of this)

from __future__ import annotations

import _signal as signal  # pyright: ignore[reportMissingImports] - the public module imports enum: 5 ms at every start
import _socket as socket
import marshal
import os
import sys

import kernel
import watcher

_FAILED = 126
_NOT_FOUND = 127


def main() -> int:
    with open(int(sys.argv[1]), "rb") as file:
        job = marshal.load(file)
    kernel.drop_capabilities()
    kernel.die_with_parent(signal.SIGKILL)
    ours, theirs = socket.socketpair()
    command = os.fork()
    if command == 0:
        ours.close()
        _become(job, theirs)
    theirs.close()
    return _follow(command, job, ours)


def _become(job: dict, channel: socket.socket) -> None:
    """Confines this process and turns it into the command. Doesn't return."""
    code = _FAILED
    try:
        kernel.die_with_parent(signal.SIGKILL)
        kernel.no_new_privileges()
        kernel.landlock(job["abi"], job["rules"], network=job["network"])
        os.chdir(job["cwd"])
        listener = kernel.install_filter(job["filter"])
        channel.sendmsg([b"."], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, listener.to_bytes(4, sys.byteorder))])
        os.close(listener)
        channel.close()
        for number in (signal.SIGPIPE, signal.SIGXFSZ):  # Python ignores them, and exec would pass that on
            signal.signal(number, signal.SIG_DFL)
        code = _NOT_FOUND
        os.execvpe(job["argv"][0], job["argv"], job["env"])
    except Exception as error:  # whatever it is: nothing runs unconfined
        if code == _NOT_FOUND and isinstance(error, FileNotFoundError):
            _say(f"{job['argv'][0]}: not found")
        else:
            code = _FAILED
            _say(f"the sandbox could not start the command: {error!r}")
    finally:
        os._exit(code)


def _follow(command: int, job: dict, channel: socket.socket) -> int:
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT, signal.SIGTSTP):
        signal.signal(number, signal.SIG_IGN)  # they are for the command
    data, ancillary, *_ = channel.recvmsg(1, socket.CMSG_SPACE(4))
    listener = -1
    if data and ancillary:
        listener = int.from_bytes(ancillary[0][2][:4], sys.byteorder)
    channel.close()
    _let_go(keep=listener)
    if listener >= 0:
        watcher.watch(listener, command, job["watched"], job["writable"])
    _, status = os.waitpid(command, 0)
    code = os.waitstatus_to_exitcode(status)
    if code < 0:
        kernel.no_core()
        if -code != signal.SIGKILL:
            signal.signal(-code, signal.SIG_DFL)
        os.kill(os.getpid(), -code)
        return 128 - code
    return code


def _let_go(keep: int) -> None:
    """Closes every descriptor of the command's, so that their other ends see when it closes them."""
    null = os.open("/dev/null", os.O_RDWR)
    for fd in (0, 1, 2):
        os.dup2(null, fd)
    for name in os.listdir("/proc/self/fd"):
        if int(name) > 2 and int(name) != keep:
            try:
                os.close(int(name))
            except OSError:  # the listing's own descriptor
                continue


def _say(text: str) -> None:
    os.write(2, f"deskagent: {text}\n".encode(errors="replace"))


if __name__ == "__main__":
    sys.exit(main())
