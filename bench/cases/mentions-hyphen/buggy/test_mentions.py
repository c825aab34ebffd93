from mentions import link, mentions, users


def test_user():
    assert mentions("thanks @ann!") == [("user", "ann")]


def test_issue():
    assert mentions("see #12 and #7a") == [("issue", "12")]


def test_order():
    assert mentions("#1 by @bob") == [("issue", "1"), ("user", "bob")]


def test_dash():
    assert users("ask @mary-jane about it") == ["mary-jane"]


def test_mail_address_is_no_mention():
    assert mentions("ann@example.org") == []


def test_each_once():
    assert users("@a @b @a") == ["a", "b"]


def test_link():
    assert link("by @ann_1.", "/u") == "by [@ann_1](/u/ann_1)."
