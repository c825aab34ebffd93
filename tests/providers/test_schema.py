"""Schemas for servers that take only simple ones mean what they meant."""

from __future__ import annotations

import pytest

from deskagent.providers.schema import plain


def prop(schema, **more):
    return plain({"type": "object", "properties": {"x": schema}, **more})["properties"]["x"]


@pytest.mark.parametrize(
    ("given", "found"),
    [
        ({"type": "string"}, {"type": "string"}),
        (True, {"type": "string"}),
        ({"enum": [1, 2]}, {"enum": [1, 2], "type": "integer"}),
        ({"const": True}, {"const": True, "type": "boolean"}),
        ({"properties": {}}, {"properties": {}, "type": "object"}),
        ({"items": {}}, {"items": {"type": "string"}, "type": "array"}),
        (
            {"type": ["string", "null"], "title": "X"},
            {"title": "X", "anyOf": [{"title": "X", "type": "string"}, {"title": "X", "type": "null"}]},
        ),
        ({"type": "string", "anyOf": [{"minLength": 1}]}, {"anyOf": [{"type": "string", "minLength": 1}]}),
        ({"oneOf": [{"type": "null"}]}, {"anyOf": [{"type": "null"}]}),
        ({"allOf": [{"type": "integer"}], "description": "n"}, {"type": "integer", "description": "n"}),
        (
            {"type": "array", "items": [{"type": "null"}]},
            {"type": "array", "prefixItems": [{"type": "null"}]},
        ),
    ],
)
def test_each_form(given, found):
    assert prop(given) == found


def test_what_is_referred_to_stands_in_its_place_and_a_circle_ends():
    node = {"type": "object", "properties": {"next": {"$ref": "#/$defs/Node"}, "name": {"type": "string"}}}
    found = prop({"$ref": "#/$defs/Node", "description": "first"}, **{"$defs": {"Node": node}})
    assert found["description"] == "first" and found["properties"]["name"] == {"type": "string"}
    assert found["properties"]["next"] == {"type": "object"}


def test_the_root_is_an_object_and_definitions_are_gone():
    found = plain({"$defs": {"A": {}}, "anyOf": [{"properties": {}}], "required": ["a"]})
    assert found == {"required": ["a"], "type": "object", "properties": {}}
