"""What is trained is what the engine computes."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch")

from engine.batch import Batch  # noqa: E402
from engine.cache.pools import Pools  # noqa: E402
from engine.model import Model  # noqa: E402
from engine.train.notes import Notes  # noqa: E402
from engine.train.ops import hidden  # noqa: E402
from engine.train.packed import Packed  # noqa: E402
from engine.train.parameters import Parameters, Stored  # noqa: E402
from engine.weights.build import build  # noqa: E402
from engine.weights.mxfp4 import pack  # noqa: E402
from kernels.dispatch import REFERENCE  # noqa: E402
from kernels.layout import Sequences  # noqa: E402


@pytest.fixture(scope="module")
def parameters(small):
    """Moved away from where they start, so that no zero hides a mistake."""
    made = Parameters(small)
    generator = torch.Generator().manual_seed(1)
    with torch.no_grad():
        for tensor in made.named.values():
            tensor += torch.randn(tensor.shape, generator=generator) * 0.1
        for tensor in made.biases.values():
            tensor += torch.randn(tensor.shape, generator=generator) * 0.1
    return made


def tokens_of(count: int, vocab: int):
    return torch.randint(vocab, (count,), generator=torch.Generator().manual_seed(2))


def by_engine(config, weights, tokens, lengths, page: int = 16):
    """Logits of all rows by the reference kernels."""
    needed = [-(-length // page) for length in lengths]
    table = torch.zeros(len(lengths), max(needed), dtype=torch.int32)
    at = 0
    for row, count in zip(table, needed, strict=True):
        row[:count] = torch.arange(at, at + count)
        at += count
    sequences = Sequences.of(lengths, lengths, list(range(len(lengths))), table)
    pools = Pools.allocate(config, at, len(lengths), page=page)
    batch = Batch(tokens, sequences, torch.arange(len(tokens)), max(lengths))
    return Model(config, weights, REFERENCE).forward(batch, pools)


def by_training(config, weights, tokens, packed, sparse: bool = True):
    every = torch.arange(len(tokens))
    return hidden(config, weights, tokens, packed, every, Notes(sparse=sparse)) @ weights.head.float().T


def test_logits_are_the_engines(small, parameters, packed, lengths):
    tokens = tokens_of(sum(lengths), small.vocab)
    with torch.no_grad():
        expected = by_engine(small, build(small, Stored(parameters)), tokens, lengths)
        found = by_training(small, parameters.weights(torch.float32, False), tokens, packed)
    assert expected.std() > 0.5
    torch.testing.assert_close(found, expected, atol=1e-4, rtol=0)


def test_dense_attention_differs_only_above_top_k(small, parameters, packed, lengths):
    tokens = tokens_of(sum(lengths), small.vocab)
    weights = parameters.weights(torch.float32, False)
    with torch.no_grad():
        dense, sparse = (by_training(small, weights, tokens, packed, choice) for choice in (False, True))
    short = packed.position < small.indexer.top_k
    torch.testing.assert_close(dense[short], sparse[short], atol=1e-5, rtol=0)
    assert (dense - sparse)[~short].abs().max() > 1e-3


def test_quantised_experts_are_those_of_a_packed_checkpoint(small, parameters, packed, lengths):
    class Packing(Stored):
        def stacked(self, layer, part):
            return pack(super().stacked(layer, part)[0].bfloat16())

    tokens = tokens_of(sum(lengths), small.vocab)
    with torch.no_grad():
        expected = by_engine(small, build(small, Packing(parameters)), tokens, lengths)
        found = by_training(small, parameters.weights(torch.float32, True), tokens, packed)
    torch.testing.assert_close(found, expected, atol=1e-4, rtol=0)


def test_packed_sequences_are_as_if_alone(small, parameters, packed, lengths):
    tokens = tokens_of(sum(lengths), small.vocab)
    weights = parameters.weights(torch.float32, False)
    with torch.no_grad():
        together = by_training(small, weights, tokens, packed)
        for span, length in zip(packed.spans, lengths, strict=True):
            part = slice(span.first, span.last)
            alone = by_training(small, weights, tokens[part], Packed.at(torch.tensor([0, length])))
            torch.testing.assert_close(together[part], alone, atol=1e-5, rtol=0)
