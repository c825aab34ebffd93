from versions import Version, newest, upgrades


def test_order():
    assert Version("1.2") < Version("1.3") < Version("2.0")


def test_two_digits():
    assert Version("1.9") < Version("1.10")


def test_longer_is_newer():
    assert Version("1.2") < Version("1.2.1")


def test_tag_is_older():
    assert Version("1.2-rc1") < Version("1.2")


def test_equal():
    assert Version("1.2") == Version("1.2")
    assert len({Version("1.2"), Version("1.2")}) == 1


def test_newest():
    assert newest(["0.9", "0.12", "0.2"]) == "0.12"
    assert newest([]) is None


def test_upgrades():
    assert upgrades("1.1", ["1.0", "2.0", "1.2"]) == ["1.2", "2.0"]
