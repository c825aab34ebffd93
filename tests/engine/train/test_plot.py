"""A run's curves."""

from __future__ import annotations

from xml.etree import ElementTree

import pytest

pytest.importorskip("torch")

from engine.train.log import Log, lines
from engine.train.plot import panels, svg


def step(number: int) -> dict[str, object]:
    watched = {"lr": 0.1, "divergence": 0.2, "fullest": 1.0, "norm": 0.5, "speed": 100}
    return {"step": number, "loss": 5 / number, "kinds": {"lm": 5 / number, "a<b": 1.0}, **watched}


def test_curves_of_a_log(tmp_path):
    log = Log(tmp_path, 0)
    for number in range(1, 1001):
        log.add(step(number))
    log.add({"step": 1000, "held": {"kinds": {"lm": 2.0}}, "recall": {"top": {"indexer": 0.9}}})
    log.close()
    shown = panels(lines(tmp_path))
    assert set(shown["loss"]) == {"lm", "a<b"}
    assert shown["loss, held out"] == {"lm": [(1000, 2.0)]}
    tree = ElementTree.fromstring(svg(shown))
    drawn = tree.findall("{http://www.w3.org/2000/svg}polyline")
    assert len(drawn) == 2 + 1 + 1 + 5
    assert all(len(line.attrib["points"].split()) <= 300 for line in drawn)


def test_a_log_goes_on_where_its_run_does(tmp_path):
    log = Log(tmp_path, 0)
    for number in range(1, 4):
        log.add(step(number))
    log.close()
    with (tmp_path / "log.jsonl").open("a") as file:
        file.write('{"step": 4, "lo')
    again = Log(tmp_path, 2)
    again.add(step(3))
    again.close()
    assert [line["step"] for line in lines(tmp_path)] == [1, 2, 3]
