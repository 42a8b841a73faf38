"""A body of very many values is refused before it is parsed."""

import json
import re
from functools import cache

import pytest

from ctxhub.core.kit.errors import InvalidInput
from ctxhub.mcp.json_size import MOST_VALUES, refuse_many_values
from tests.hub import LiveHub, McpClient, RestClient


@cache
def many_keys() -> bytes:
    return json.dumps({f"key{number}": number for number in range(400_000)}).encode()[: 4 * 1024 * 1024]


@pytest.mark.parametrize("path", ["/api/v1/projects/apollo/decisions/", "/mcp"])
def test_many_keys_are_refused_on_each_face(hub: LiveHub, ada_mcp: McpClient, path: str) -> None:
    reply = hub.http(ada_mcp.token).send("POST", path, many_keys())
    error = reply.body if path != "/mcp" else reply.body["error"]["data"]
    assert (reply.status, error["error"]) == (400, "invalid")
    assert error["message"] == "The body has more than 40,000 values."


def test_many_keys_are_refused_without_a_token(hub: LiveHub) -> None:
    reply = hub.http().send("POST", "/api/v1/projects/apollo/decisions/", many_keys())
    assert (reply.status, reply.body["error"]) == (400, "invalid")


@pytest.mark.parametrize("body", [b"[" * 200_000, b'{"a":' * 200_000, b"[1" + b",1" * 200_000 + b"]"])
def test_nested_and_long_lists_are_refused(body: bytes) -> None:
    with pytest.raises(InvalidInput):
        refuse_many_values(body)


@pytest.mark.parametrize("text", [", [ {" * MOST_VALUES, '", ' * MOST_VALUES, "\\,\n" * MOST_VALUES])
def test_texts_with_commas_and_brackets_are_taken(text: str) -> None:
    refuse_many_values(json.dumps({"text": text}).encode())


def test_many_unknown_names_get_a_short_answer(ada_mcp: McpClient) -> None:
    answer = ada_mcp.call("decision", "list", **{f"name{number}": 1 for number in range(900)})
    assert answer["error"] == "invalid"
    assert len(json.dumps(answer)) < 4_000


def test_too_many_arguments_are_counted_and_not_looked_at(ada_mcp: McpClient, ada_rest: RestClient) -> None:
    many = {f"name{number}": 1 for number in range(39_000)}
    for answer in (ada_mcp.call("decision", "set", **many), ada_rest.post("call/decision/set/", many).body):
        assert answer["error"] == "invalid"
        assert re.search(r"called with 39,00\d arguments; the limit is 1,000", answer["message"])
