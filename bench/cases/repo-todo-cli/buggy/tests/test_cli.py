import pytest


def test_empty(todo):
    assert todo("list") == (0, "")


def test_add_with_priority(todo):
    todo("add", "-p", "1", "buy", "milk")
    assert todo("list") == (0, "  1 [ ] ! buy milk\n")


def test_add(todo):
    todo("add", "sleep")
    assert todo("list") == (0, "  1 [ ]   sleep\n")


def test_order(todo):
    todo("add", "-p", "3", "later")
    todo("add", "-p", "1", "now")
    assert [line.split()[-1] for line in todo("list")[1].splitlines()] == ["now", "later"]


def test_done(todo):
    todo("add", "-p", "1", "now")
    assert todo("done", "1")[0] == 0
    assert "[x]" in todo("list")[1]


def test_done_unknown(todo, capsys):
    assert todo("done", "4")[0] == 1
    assert capsys.readouterr().err == "no item 4\n"


def test_bad_priority(todo):
    with pytest.raises(SystemExit):
        todo("add", "-p", "9", "x")
