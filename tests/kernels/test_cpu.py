"""What the compiled kernels promise beside being right: the same bits in any company and on any number of threads,
errors before damage, the reference for what they have no code for."""

from __future__ import annotations

import logging

import pytest

torch = pytest.importorskip("torch")
_native = pytest.importorskip("kernels.cpu._native")

from kernels import dispatch  # noqa: E402
from kernels.cpu.ops import CpuOps  # noqa: E402
from kernels.layout import Activation, Sequences  # noqa: E402
from kernels.reference.mxfp4 import pack  # noqa: E402

SITU = Activation("situ", 4.0, 25.0)
each = pytest.mark.parametrize("isa", _native.names())


def one_text(length: int, slot: int = 0) -> Sequences:
    return Sequences.of([length], [length], [slot], torch.arange(8)[None])


@pytest.fixture
def threads():
    before = _native.threads()
    yield _native.threads
    _native.threads(before)


def routed(n: int):
    torch.manual_seed(5)
    parts = [pack(torch.randn(6, *shape) * 0.1) for shape in ((96, 160), (96, 160), (160, 96))]
    ids = torch.rand(n, 6).argsort(-1)[:, :3].int()
    return torch.randn(n, 160), ids, torch.rand(n, 3), parts


@each
@pytest.mark.parametrize("exact", [False, True])
def test_company_changes_no_bit(isa, exact) -> None:
    ops = CpuOps(isa, exact)
    x, ids, weights, parts = routed(11)
    together = ops.experts(x, ids, weights, *parts, SITU)
    alone = [ops.experts(x[n : n + 1], ids[n : n + 1], weights[n : n + 1], *parts, SITU) for n in range(11)]
    assert torch.equal(together, torch.cat(alone))
    for dtype in (torch.float32, torch.bfloat16):
        weight = torch.randn(70, 160).to(dtype)
        assert torch.equal(ops.linear(x, weight), torch.cat([ops.linear(row[None], weight) for row in x]))
        first, tokens = torch.zeros(5, dtype=torch.int64), torch.arange(0, 70, 14)
        likely = [ops.loglik(row[None], weight, first, tokens) for row in x]
        rows = torch.arange(11).repeat_interleave(5)
        assert torch.equal(ops.loglik(x, weight, rows, tokens.repeat(11)), torch.cat(likely))


@each
@pytest.mark.parametrize("exact", [False, True])
@pytest.mark.parametrize("cuts", [(), (3,), (1, 2, 5)])
def test_experts_in_several_calls_are_those_of_one(isa, exact, cuts) -> None:
    ops = CpuOps(isa, exact)
    x, ids, weights, parts = routed(9)
    for dtype in (torch.float32, torch.bfloat16):
        whole = ops.experts(x.to(dtype), ids, weights, *parts, SITU)
        onto = torch.zeros(x.shape)
        for first, last in zip((0, *cuts), (*cuts, 6), strict=True):
            some = ids.where((ids >= first) & (ids < last), -1)
            assert ops.experts(x.to(dtype), some, weights, *parts, SITU, onto=onto) is onto
        assert torch.equal(onto.to(dtype), whole)


@each
def test_threads_change_no_bit(isa, threads) -> None:
    ops = CpuOps(isa)
    x, ids, weights, parts = routed(40)
    wide = torch.randn(300, 160)
    made = []
    for count in (1, 3):
        assert threads(count) == count
        made.append((ops.experts(x, ids, weights, *parts, SITU), ops.linear(x, wide)))
    assert torch.equal(made[0][0], made[1][0])
    assert torch.equal(made[0][1], made[1][1])


@each
@pytest.mark.parametrize("cut", [1, 63, 64, 65, 99])
def test_a_cut_changes_no_bit_of_delta_attention(isa, cut) -> None:
    ops = CpuOps(isa)
    torch.manual_seed(1)
    heads, d, length = 2, 48, 100
    qkv, decay, beta = (torch.randn(length, width) for width in (3 * heads * d, heads * d, heads))
    rest = torch.rand(heads), torch.randn(heads * d), -5.0
    whole, parts = torch.zeros(1, heads, d, d), torch.zeros(1, heads, d, d)
    expected = ops.kda(qkv, decay, beta, *rest, whole, one_text(length))
    got = [
        ops.kda(qkv[a:b], decay[a:b], beta[a:b], *rest, parts, one_text(b - a))
        for a, b in ((0, cut), (cut, length))
    ]
    assert torch.equal(torch.cat(got), expected)
    assert torch.equal(parts, whole)


def test_several_python_threads_at_once() -> None:
    from concurrent.futures import ThreadPoolExecutor

    ops = CpuOps()
    x, ids, weights, parts = routed(16)
    expected = ops.experts(x, ids, weights, *parts, SITU)
    with ThreadPoolExecutor(4) as pool:
        runs = [pool.submit(ops.experts, x, ids, weights, *parts, SITU) for _ in range(60)]
    assert all(torch.equal(run.result(), expected) for run in runs)


def test_a_fork_computes_without_its_parents_threads() -> None:
    import os

    ops = CpuOps()
    x, weight = torch.randn(64, 160), torch.randn(300, 160)
    expected = ops.linear(x, weight)
    child = os.fork()
    if child == 0:
        os._exit(0 if torch.equal(ops.linear(x, weight), expected) else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def test_what_points_outside_is_refused_and_nothing_written() -> None:
    ops = CpuOps()
    x, ids, weights, parts = routed(2)
    with pytest.raises(IndexError, match="expert"):
        ops.experts(x, ids + 6, weights, *parts, SITU)
    for wrong, onto in ((ids * 0 - 1, None), (ids * 0 - 2, torch.zeros(x.shape))):
        with pytest.raises(IndexError, match="expert"):
            ops.experts(x, wrong, weights, *parts, SITU, onto=onto)
    with pytest.raises(IndexError, match="vocabulary"):
        ops.embed(torch.tensor([5]), torch.zeros(5, 4), torch.float32)
    pages = torch.zeros(2, 4, 8)
    kv, norm = torch.randn(9, 8), torch.ones(4)
    for table, error in ((torch.tensor([[0, 1, 2]]), IndexError), (torch.tensor([[0, 1]]), ValueError)):
        with pytest.raises(error):
            ops.write_latents(kv, norm, 1e-5, pages, Sequences.of([9], [9], [0], table))
    with pytest.raises(IndexError, match="slot"):
        ops.causal_conv(kv, torch.zeros(8, 4), torch.zeros(1, 8, 3), one_text(9, slot=1))
    with pytest.raises(ValueError, match="width"):
        ops.linear(x, torch.zeros(3, 159))
    assert not pages.any()


def test_the_reference_takes_what_has_no_kernel() -> None:
    ops = dispatch.select(name=_native.names()[0])
    x, weight = torch.randn(3, 8), torch.randn(5, 8)
    half = ops.linear(x.half(), weight.half())
    assert torch.equal(half, dispatch.REFERENCE.linear(x.half(), weight.half()))
    turned = torch.randn(8, 3).T
    torch.testing.assert_close(ops.linear(turned, weight), dispatch.REFERENCE.linear(turned, weight))


def test_the_choice(monkeypatch, caplog) -> None:
    monkeypatch.setenv(dispatch.VARIABLE, "scalar")
    assert dispatch.select() == dispatch.select(name="scalar")
    assert dispatch.select(name="exact") != dispatch.select()
    monkeypatch.setenv(dispatch.VARIABLE, "reference")
    assert dispatch.select() is dispatch.REFERENCE
    monkeypatch.setenv(dispatch.VARIABLE, "sse9")
    with pytest.raises(dispatch.KernelError, match="scalar"):
        dispatch.select()
    assert not caplog.records
    with caplog.at_level(logging.WARNING, "engine"):
        monkeypatch.setattr(dispatch, "available", lambda device: ("reference",))
        monkeypatch.delenv(dispatch.VARIABLE)
        assert dispatch.select() is dispatch.REFERENCE
    assert "slow" in caplog.text
