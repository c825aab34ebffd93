"""The compiled filter says what the table of rules says, for any system call."""

from __future__ import annotations

import errno
import struct

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deskagent.terminal.sandbox import seccomp, syscalls
from deskagent.terminal.types import Rung

ALLOW, KILL = 0x7FFF0000, 0x80000000
MACHINE = syscalls._MACHINES["x86_64"]
SETS = {
    "bwrap": seccomp.rules(Rung.BWRAP, network=False),
    "landlock": seccomp.rules(Rung.LANDLOCK, network=False, abi=6),
    "landlock 1": seccomp.rules(Rung.LANDLOCK, network=False, abi=1),
    "landlock with network": seccomp.rules(Rung.LANDLOCK, network=True, abi=6),
}
PROGRAMS = {name: seccomp.compile_filter(rules, MACHINE) for name, rules in SETS.items()}
NUMBERS = sorted(
    {n for rules in SETS.values() for rule in rules if (n := MACHINE.number(rule.name)) is not None}
)


def run(program: bytes, number: int, arguments: list[int], arch: int = MACHINE.audit) -> int:
    """What the kernel's machine for filters answers."""
    data = struct.pack("<IIQ6Q", number, arch, 0, *arguments)
    at, accumulator = 0, 0
    while True:
        code, yes, no, value = struct.unpack_from("<HBBI", program, 8 * at)
        at += 1
        match code:
            case 0x20:
                (accumulator,) = struct.unpack_from("<I", data, value)
            case 0x54:
                accumulator &= value
            case 0x15:
                at += yes if accumulator == value else no
            case 0x25:
                at += yes if accumulator > value else no
            case 0x06:
                return value
            case _:
                raise AssertionError(f"unknown instruction {code:#x}")


def expected(rules: list[seccomp.Rule], number: int, arguments: list[int]) -> int:
    for rule in rules:
        if MACHINE.number(rule.name) == number and all(
            ((arguments[test.arg] & 0xFFFFFFFF & test.mask) == test.value) is test.equal
            for test in rule.tests
        ):
            return rule.action
    return ALLOW


words = st.one_of(
    st.sampled_from(
        [0, 1, 2, 10, 16, 17, 0x5412, 0o4755, 0o1101, 0o100, 0x10000000, 8, 1 << 32, (1 << 32) | 0x5412]
    ),
    st.integers(0, (1 << 64) - 1),
)


@settings(deadline=None)
@given(
    name=st.sampled_from(sorted(SETS)),
    number=st.one_of(st.sampled_from(NUMBERS), st.integers(0, 462)),
    args=st.data(),
)
def test_as_the_table(name: str, number: int, args: st.DataObject) -> None:
    arguments = args.draw(st.lists(words, min_size=6, max_size=6))
    assert run(PROGRAMS[name], number, arguments) == expected(SETS[name], number, arguments)


@settings(deadline=None)
@given(number=st.integers(463, (1 << 32) - 1))
def test_calls_that_are_newer_than_the_table_don_t_exist(number: int) -> None:
    for program in PROGRAMS.values():
        assert run(program, number, [0] * 6) == 0x00050000 | errno.ENOSYS


@settings(deadline=None)
@given(
    number=st.integers(0, 500), arch=st.integers(0, (1 << 32) - 1).filter(lambda arch: arch != MACHINE.audit)
)
def test_other_processors_calls_end_the_program(number: int, arch: int) -> None:
    assert run(PROGRAMS["bwrap"], number, [0] * 6, arch) == KILL


@pytest.mark.parametrize("name", sorted(SETS))
def test_size(name: str) -> None:
    assert len(PROGRAMS[name]) // 8 < 4096  # the kernel's limit


@pytest.mark.parametrize(
    ("machine", "arch"), [("x86_64", "X86_64"), ("aarch64", "AARCH64"), ("riscv64", "RISCV64")]
)
def test_numbers_are_those_of_libseccomp(machine: str, arch: str) -> None:
    try:
        import pyseccomp
    except (ImportError, RuntimeError) as error:
        pytest.skip(f"libseccomp: {error}")
    for name in syscalls._NUMBERS:
        known = pyseccomp.resolve_syscall(getattr(pyseccomp.Arch, arch), name)
        if known != -1:  # newer than this libseccomp
            assert syscalls._MACHINES[machine].number(name) == (known if known >= 0 else None), name
