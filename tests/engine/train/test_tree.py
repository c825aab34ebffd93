"""Answers that go on from one question are computed as if each stood behind it alone."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch")

from engine.errors import ConfigError  # noqa: E402
from engine.train.notes import Notes  # noqa: E402
from engine.train.ops import hidden  # noqa: E402
from engine.train.packed import Packed  # noqa: E402
from engine.train.parameters import Parameters  # noqa: E402

GROUPS = [(70, [5, 40, 1, 33]), (20, []), (2, [3, 1]), (32, [32, 2, 64])]
"""Tokens of a question, and of its answers: below and above a chunk of 32, the kernel of 4 and the top-k of 24."""


@pytest.fixture(scope="module")
def parameters(small):
    made = Parameters(small)
    generator = torch.Generator().manual_seed(1)
    with torch.no_grad():
        for tensor in made.named.values():
            tensor += torch.randn(tensor.shape, generator=generator) * 0.1
    return made


def texts(vocab: int):
    generator = torch.Generator().manual_seed(5)
    return [
        [torch.randint(vocab, (count,), generator=generator) for count in (length, *lengths)]
        for length, lengths in GROUPS
    ]


def packed_of(groups):
    """The batch, and which sequence each goes on from."""
    parents: list[int] = []
    for _, *answers in groups:
        at = len(parents)
        parents += [-1, *[at] * len(answers)]
    every = [text for group in groups for text in group]
    starts = torch.tensor([0, *map(len, every)]).cumsum(0)
    return torch.cat(every), Packed.at(starts, parents=torch.tensor(parents))


def logits(small, weights, tokens, packed, sparse: bool, notes: Notes | None = None):
    rows = torch.arange(len(tokens))
    found = hidden(small, weights, tokens, packed, rows, notes or Notes(sparse=sparse))
    return found @ weights.head.T


def shares(groups, weights, small, sparse: bool):
    """A number for each row of a group computed at once, and the same of each answer behind its question alone."""
    tokens, packed = packed_of(groups)
    together = logits(small, weights, tokens, packed, sparse)
    alone = []
    for question, *answers in groups:
        whole = torch.tensor([0, len(question)])
        alone.append(logits(small, weights, question, Packed.at(whole), sparse))
        for answer in answers:
            both = torch.cat([question, answer])
            found = logits(small, weights, both, Packed.at(torch.tensor([0, len(both)])), sparse)
            alone.append(found[len(question) :])
    return together, torch.cat(alone)


@pytest.mark.parametrize("sparse", [False, True])
def test_each_is_as_if_alone(small, parameters, sparse):
    weights = parameters.weights(torch.float32, False)
    with torch.no_grad():
        together, alone = shares(texts(small.vocab), weights, small, sparse)
    assert together.std() > 0.5
    torch.testing.assert_close(together, alone, atol=1e-5, rtol=0)


@pytest.mark.parametrize("sparse", [False, True])
def test_gradients_are_those_of_each_alone(small, parameters, sparse):
    groups = texts(small.vocab)
    found = []
    for number in range(2):
        weights = parameters.weights(torch.float32, False)
        made = shares(groups, weights, small, sparse)[number]
        weigh = torch.randn(made.shape, generator=torch.Generator().manual_seed(3))
        found.append(
            torch.autograd.grad((made * weigh).mean(), list(parameters.named.values()), allow_unused=True)
        )
    learnt = 0
    for name, one, other in zip(parameters.named, *found, strict=True):
        assert (one is None) == (other is None), name
        if one is not None and other is not None:
            torch.testing.assert_close(one, other, atol=1e-5, rtol=1e-3)
            learnt += bool(one.abs().max() > 1e-5)
    assert learnt > 60


def test_indexers_are_told_of_what_an_answer_sees(small, parameters):
    """Attention to other answers would be attention to nothing that the engine has."""
    groups = texts(small.vocab)
    weights = parameters.weights(torch.float32, False)
    told = []
    for changed in (False, True):
        if changed:
            groups[0][1] = (groups[0][1] + 1) % small.vocab
        tokens, packed = packed_of(groups)
        notes = Notes(True, len(tokens), 0)
        with torch.no_grad():
            rows = logits(small, weights, tokens, packed, True, notes)
        told.append(rows)
    first = slice(70, 75)
    assert not torch.equal(told[0][first], told[1][first])
    others = torch.cat([told[0][:70] - told[1][:70], told[0][75:] - told[1][75:]])
    assert others.abs().max() < 1e-5


@pytest.mark.parametrize("parents", [[-1, 0, -1, 0], [-1, -1, 0], [-1, 0, 1]])
def test_answers_stand_behind_their_question(parents):
    starts = torch.arange(len(parents) + 1) * 3
    with pytest.raises(ConfigError, match="behind"):
        Packed.at(starts, parents=torch.tensor(parents))
