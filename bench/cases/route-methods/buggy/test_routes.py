import pytest

from routes import Router


@pytest.fixture
def router():
    router = Router()
    router.add("GET", "/users", "list")
    router.add("GET", "/users/:id", "show")
    router.add("delete", "/users/:id", "remove")
    return router


def test_plain(router):
    assert router.find("GET", "/users") == (200, "list", {})


def test_parameter(router):
    assert router.find("get", "/users/7/") == (200, "show", {"id": "7"})


def test_method_picks_the_handler(router):
    assert router.find("DELETE", "/users/7") == (200, "remove", {"id": "7"})


def test_unknown_path(router):
    assert router.find("GET", "/groups") == (404, None, {})


def test_wrong_method(router):
    assert router.find("POST", "/users") == (405, None, {})


def test_too_many_parts(router):
    assert router.find("GET", "/users/7/mail")[0] == 404
