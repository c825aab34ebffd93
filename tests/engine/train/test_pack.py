"""The process that makes rows: the same rows, also after a restart, and no process left behind."""

from __future__ import annotations

import time

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("tokenizers")

from engine.errors import ConfigError, EngineError  # noqa: E402
from engine.train import pack, shards, vocabulary  # noqa: E402
from engine.train.corpus.files import Document  # noqa: E402

FUNCTION = (
    "def name_{0}(value, other):\n    if value > {0}:\n        return other\n    return value + {0}\n\n\n"
)


def document(package: str) -> Document:
    text = "".join(FUNCTION.format(n) for n in range(60))
    return Document(package, f"{package}/a.py", "python", text)


@pytest.fixture(scope="module")
def data(tmp_path_factory) -> dict:
    folder = tmp_path_factory.mktemp("data")
    shards.write(folder, "train", [document("a")])
    shards.write(folder, "held", [document("b")])
    (folder / "tokenizer.json").write_text(vocabulary.train([FUNCTION * 50], 600), "utf-8")
    return {"folder": str(folder), "weights": {"lm": 1.0, "fim": 1.0}, "context": 128, "tokens": 512}


def words(rows):
    return rows.tokens.tolist(), rows.learn.tolist(), rows.starts.tolist(), rows.kinds


def test_rows_go_on_from_a_state(data) -> None:
    one = pack.source(data, "train", 3)
    first = [words(next(one)) for _ in range(3)]
    state = one.state()
    more = [words(next(one)) for _ in range(3)]
    other = pack.source(data, "train", 3)
    other.restore(state)
    assert [words(next(other)) for _ in range(3)] == more
    one.restore({"number": 0})
    assert [words(next(one)) for _ in range(3)] == first
    one.close()
    other.close()


def test_rows_are_what_a_step_reads(data) -> None:
    source = pack.source(data, "train", 0)
    rows = next(source)
    source.close()
    assert rows.tokens.dtype == rows.starts.dtype == torch.int64 and rows.learn.dtype == torch.bool
    assert rows.starts[0] == 0 and rows.starts[-1] == len(rows.tokens) == len(rows.learn) == 512
    assert len(rows.kinds) == len(rows.starts) - 1 and set(rows.kinds) <= {"lm", "fim"}


def test_held_rows_are_the_same_each_time_and_of_every_kind(data) -> None:
    first = list(pack.held(data, 4))
    assert [set(rows.kinds) for rows in first] == [{"lm"}, {"lm"}, {"fim"}, {"fim"}]
    pack._held.cache_clear()
    assert [words(rows) for rows in pack.held(data, 4)] == [words(rows) for rows in first]


def test_a_process_that_ends_is_told(data, capfd) -> None:
    source = pack.source(data | {"folder": data["folder"] + "/none"}, "train", 0)
    with pytest.raises(EngineError, match="makes examples ended"):
        next(source)


def test_the_process_ends_when_nobody_reads(data) -> None:
    source = pack.source(data, "train", 0)
    next(source)
    process = source._process
    assert process is not None and process.stdout is not None
    process.stdout.close()
    end = time.monotonic() + 60
    while process.poll() is None and time.monotonic() < end:
        time.sleep(0.05)
    assert process.poll() == 0
    source._process = None


@pytest.mark.parametrize(
    ("change", "named"),
    [({"weights": {}}, "weights"), ({"context": 3}, "context"), ({"wide": 1}, "wide")],
)
def test_tables_that_describe_no_data_are_refused(data, change, named) -> None:
    with pytest.raises(ConfigError, match=named):
        pack.source(data | change, "train", 0)


def test_a_table_may_name_the_module_that_reads_it(data) -> None:
    source = pack.source(data | {"rows": "engine.train.pack"}, "train", 0)
    plain = pack.source(data, "train", 0)
    assert words(next(source)) == words(next(plain))
    source.close()
    plain.close()
