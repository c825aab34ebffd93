import pytest

from query import Query


def test_everything():
    assert Query("t").build() == ("SELECT * FROM t", ())


def test_columns_and_order():
    query = Query("t").select("a", "b").order_by("a", descending=True)
    assert query.build()[0] == "SELECT a, b FROM t ORDER BY a DESC"


def test_where():
    query = Query("t").where("a", 1).where("b", 2, ">")
    assert query.build() == ("SELECT * FROM t WHERE a = ? AND b > ?", (1, 2))


def test_limit_at_the_end():
    query = Query("t")
    query.limit(5)
    assert query.build()[0] == "SELECT * FROM t LIMIT 5"


def test_limit_in_a_chain():
    assert Query("t").limit(5).where("a", 1).build()[0] == "SELECT * FROM t WHERE a = ? LIMIT 5"


def test_negative_limit():
    with pytest.raises(ValueError):
        Query("t").limit(-1)
