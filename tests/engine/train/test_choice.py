"""The choice among answers: the loss and its gradients are those of answers that stand behind the question alone, and
the engine's scores are the ones that are trained."""

from __future__ import annotations

from dataclasses import replace

import pytest

torch = pytest.importorskip("torch")

from engine.api import Caches, Engine  # noqa: E402
from engine.process.load import load  # noqa: E402
from engine.train import checkpoints  # noqa: E402
from engine.train.choice import Choices, Likely  # noqa: E402
from engine.train.export import export  # noqa: E402
from engine.train.notes import Notes  # noqa: E402
from engine.train.objective import Objective  # noqa: E402
from engine.train.ops import hidden  # noqa: E402
from engine.train.packed import Packed  # noqa: E402
from engine.train.rows import Rows  # noqa: E402
from engine.train.settings import Settings  # noqa: E402
from engine.train.trainer import Trainer  # noqa: E402

SETTINGS = Settings(
    dtype="float32", sparse_from=0, quantise_from=9, choice=3.0, choice_loglik=0.5, choice_tokens=0.2
)
QUESTIONS = [(40, [6, 35, 1, 6]), (5, [2, 3])]
RIGHT = (0, 1)


@pytest.fixture(scope="module")
def trainer(small) -> Trainer:
    made = Trainer(small, SETTINGS)
    generator = torch.Generator().manual_seed(1)
    with torch.no_grad():
        for tensor in made.parameters.named.values():
            tensor.add_(torch.randn(tensor.shape, generator=generator) * 0.1).copy_(tensor.bfloat16())
    return made


@pytest.fixture(scope="module")
def rows(small) -> Rows:
    """An ordinary text, and two questions with answers."""
    lengths, learn, parents, kinds = [20], [True] * 20, [-1], ["lm"]
    for (question, answers), right in zip(QUESTIONS, RIGHT, strict=True):
        at = len(lengths)
        lengths += [question, *answers]
        parents += [-1, *[at] * len(answers)]
        kinds += ["contrast"] * (1 + len(answers))
        learn += [False] * question
        for number, length in enumerate(answers):
            learn += [number == right] * length
    generator = torch.Generator().manual_seed(4)
    tokens = torch.randint(small.vocab, (sum(lengths),), generator=generator)
    starts = torch.tensor([0, *lengths]).cumsum(0)
    return Rows(tokens, torch.tensor(learn), starts, tuple(kinds), torch.tensor(parents))


def texts(rows: Rows) -> list[list[torch.Tensor]]:
    """Of each question: it, and its answers."""
    every = rows.tokens.split(rows.starts.diff().tolist())
    return [[every[1], *every[2:6]], [every[6], *every[7:9]]]


def logliks(trainer: Trainer, weights, question, answer):
    """Of an answer's tokens, with nothing else in the batch."""
    whole = torch.cat([question, answer])
    wanted = torch.arange(len(question) - 1, len(whole) - 1)
    packed = Packed.at(torch.tensor([0, len(whole)]))
    x = hidden(trainer.config, weights, whole, packed, wanted, Notes(sparse=True))
    return (x @ weights.head.T).log_softmax(-1).gather(1, answer[:, None])[:, 0]


def expected(trainer: Trainer, weights, rows: Rows):
    text = rows.tokens[:20]
    whole = -logliks(trainer, weights, text[:1], text[1:]).sum()
    for (question, *answers), right in zip(texts(rows), RIGHT, strict=True):
        told = [logliks(trainer, weights, question, answer) for answer in answers]
        scores = torch.stack([0.5 * one.sum() + 0.2 * len(one) for one in told])
        whole = whole - told[right].sum() - 3.0 * scores.log_softmax(0)[right]
    return whole


def found(trainer: Trainer, weights, rows: Rows):
    return trainer._lost(rows, Objective.of(rows), Notes(sparse=True), weights)


def test_loss_and_gradients_are_those_of_answers_alone(trainer, rows):
    made = []
    for together in (True, False):
        weights = trainer.parameters.weights(torch.float32, False)
        loss = found(trainer, weights, rows).whole if together else expected(trainer, weights, rows)
        named = trainer.parameters.named
        made.append((loss.detach(), torch.autograd.grad(loss / 100, list(named.values()), allow_unused=True)))
    torch.testing.assert_close(made[0][0], made[1][0], atol=1e-4, rtol=1e-5)
    for name, one, other in zip(trainer.parameters.named, made[0][1], made[1][1], strict=True):
        assert (one is None) == (other is None), name
        if one is not None and other is not None:
            torch.testing.assert_close(one, other, atol=1e-5, rtol=1e-3)


def test_what_is_told_of_choices(trainer, rows):
    weights = trainer.parameters.weights(torch.float32, False)
    with torch.no_grad():
        lost = found(trainer, weights, rows)
        ranks = []
        for (question, *answers), right in zip(texts(rows), RIGHT, strict=True):
            scores = [
                float(0.5 * logliks(trainer, weights, question, one).sum() + 0.2 * len(one))
                for one in answers
            ]
            ranks.append(1 + sum(score > scores[right] for score in scores))
    chosen = lost.chosen
    assert chosen.questions == 2
    assert chosen.reciprocal == pytest.approx(sum(1 / rank for rank in ranks))
    assert chosen.first == ranks.count(1)
    assert (chosen.priors_first, chosen.priors_reciprocal) == (1, pytest.approx(1 + 1 / 2))
    assert chosen.chance_first == pytest.approx(1 / 4 + 1 / 2)
    assert lost.by_kind["lm"][1] == 19 and lost.by_kind["contrast"][1] == 6 + 3
    assert (chosen + chosen).words()["reciprocal"] == chosen.words()["reciprocal"]


def test_the_engine_scores_as_was_trained(trainer, rows, small, tmp_path):
    trainer.step = 10
    checkpoints.write(trainer, tmp_path / "run", {})
    export(tmp_path / "run", tmp_path / "out")
    model, _ = load(tmp_path / "out", "reference")
    engine = Engine(model, Caches(pages=32, slots=8, page=8, ram=1 << 24))
    weights = trainer.parameters.weights(torch.float32, True)
    choices = Choices.of(rows)
    assert choices is not None
    with torch.no_grad():
        packed = Packed.at(rows.starts, parents=rows.parents)
        x = hidden(small, weights, rows.tokens, packed, choices.rows, Notes(sparse=True))
        told = Likely.apply(x, weights.head, choices.targets).split(choices.lengths.tolist())
    scores = [
        score
        for question, *answers in texts(rows)
        for score in engine.score(question.tolist(), [one.tolist() for one in answers])
    ]
    assert len(scores) == len(told) == 6
    for one, score in zip(told, scores, strict=True):
        torch.testing.assert_close(torch.tensor(score.tokens), one, atol=1e-3, rtol=0)


def test_a_choice_is_learnt(small, rows):
    learner = Trainer(small, replace(SETTINGS, steps=60, lr=1e-2, warmup=2, decay=2, choice_loglik=1.0))
    told = [learner.train([rows]).chosen for _ in range(40)]
    assert told[0].loss > 1.0
    assert told[-1].loss < 0.1 and told[-1].first == 2
    with torch.no_grad():
        held, _ = learner.evaluate([rows, rows])
    assert (held.chosen.questions, held.chosen.first) == (4, 4)
    assert held.words()["choice"] == held.chosen.words()
