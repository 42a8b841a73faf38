"""What clients send as messages, over stdio and over HTTP: ids, params and arguments as texts, odd bytes."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ctxhub.core.kit.caller import Caller
from ctxhub.mcp.json_size import MOST_VALUES
from tests.hub import McpClient
from tests.mcp.transcript import Message, hello
from tests.stdio import answered_bytes

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.one_engine]

Ask = Callable[[bytes], Message | None]
PING = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
LIST = '{"action": "list"}'


@pytest.fixture(params=["stdio", "HTTP"])
def ask(request: pytest.FixtureRequest, ada: Caller, ada_mcp: McpClient, tmp_path: Path) -> Ask:
    """The answer to a message, None if it has none."""

    def over_stdio(message: bytes) -> Message | None:
        lines = [json.dumps(hello()).encode(), message]
        _, *answers = answered_bytes(ada, lines, tmp_path)
        return answers[0] if answers else None

    def over_http(message: bytes) -> Message | None:
        body = ada_mcp.send("POST", "/mcp", message).body
        return body or None

    return over_stdio if request.param == "stdio" else over_http


def sent(ask: Ask, message: Any) -> Any:
    return ask(json.dumps(message).encode())


def called(ask: Ask, tool: str, arguments: Any) -> Any:
    params = {"name": tool, "arguments": arguments}
    return sent(ask, {**PING, "method": "tools/call", "params": params})


# -- Ids -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("request_id", "answered_id"), [(1.0, 1), (0, 0), (-7, -7), (2**70, 2**70), (1e20, 10**20), ("", "")]
)
def test_a_request_is_answered_with_its_id(ask: Ask, request_id: Any, answered_id: Any) -> None:
    assert sent(ask, {**PING, "id": request_id}) == {"jsonrpc": "2.0", "id": answered_id, "result": {}}


@pytest.mark.parametrize(
    ("request_id", "named"),
    [(None, "null"), (1.5, "1.5"), (True, "a boolean"), ({}, "an object"), ([1], "a list")],
)
def test_an_id_that_can_be_none_is_an_error_and_no_notification(
    ask: Ask, request_id: Any, named: str
) -> None:
    answer = sent(ask, {**PING, "id": request_id})
    assert (answer["id"], answer["error"]["code"]) == (None, -32600)
    assert f'"id" must be a text or a whole number, not {named}.' in answer["error"]["message"]


def test_without_the_member_id_it_is_a_notification(ask: Ask) -> None:
    assert sent(ask, {"jsonrpc": "2.0", "method": "ping"}) is None


# -- Texts in place of objects ---------------------------------------------------------------------


@pytest.mark.parametrize("arguments", [LIST, f" {LIST}\n", json.dumps(LIST)])
def test_arguments_may_be_the_text_of_their_object(ask: Ask, arguments: str) -> None:
    answer = sent(
        ask, {**PING, "method": "tools/call", "params": {"name": "decision", "arguments": arguments}}
    )
    assert json.loads(answer["result"]["content"][0]["text"])["count"] == 0


def test_empty_arguments_are_none(ask: Ask) -> None:
    answer = called(ask, "hub", "")
    assert answer["result"]["isError"] is False


@pytest.mark.parametrize(
    ("arguments", "kind"),
    [("list", "a text"), ('["list"]', "a text"), ([], "a list"), (7, "a number"), (True, "a boolean")],
)
def test_other_arguments_are_named_with_their_type(ask: Ask, arguments: Any, kind: str) -> None:
    answer = called(ask, "hub", arguments)
    assert answer["error"]["code"] == -32602
    assert f"params.arguments must be an object, not {kind}." in answer["error"]["message"]


def test_a_text_of_arguments_holds_no_more_values_than_a_body(ask: Ask) -> None:
    many = json.dumps({"action": "list", "tags": ["x"] * MOST_VALUES})
    answer = called(ask, "decision", many)
    assert answer["error"]["code"] == -32602


def test_params_may_be_the_text_of_their_object(ask: Ask) -> None:
    params = json.dumps({"name": "decision", "arguments": {"action": "list"}})
    answer = sent(ask, {**PING, "method": "tools/call", "params": params})
    assert answer["result"]["isError"] is False


@pytest.mark.parametrize(("params", "kind"), [([], "a list"), ("x", "a text"), (7, "a number")])
def test_other_params_are_named_with_their_type(ask: Ask, params: Any, kind: str) -> None:
    answer = sent(ask, {**PING, "params": params})
    assert (answer["id"], answer["error"]["code"]) == (1, -32600)
    assert f'"params" must be an object, not {kind}.' in answer["error"]["message"]


@pytest.mark.parametrize(
    ("message", "why"),
    [
        ("7", "it is a number, not an object."),
        ('{"id":1,"method":"ping"}', '"jsonrpc" must be "2.0".'),
        ('{"jsonrpc":"2.0","id":1,"method":7}', '"method" must be a text, not a number.'),
        ('{"jsonrpc":"2.0","id":1}', '"method" is missing.'),
    ],
)
def test_what_is_no_message_is_told_why(ask: Ask, message: str, why: str) -> None:
    answer = ask(message.encode())
    assert answer is not None
    assert answer["error"] == {"code": -32600, "message": f"This is no JSON-RPC message: {why}"}


# -- Bytes -----------------------------------------------------------------------------------------

TEXT = json.dumps(PING).encode()


@pytest.mark.parametrize("message", [b"\xef\xbb\xbf" + TEXT, TEXT + b"\r", b" \t" + TEXT + b"  "])
def test_a_byte_order_mark_and_blanks_around_a_message_are_read_over(ask: Ask, message: bytes) -> None:
    assert ask(message) == {"jsonrpc": "2.0", "id": 1, "result": {}}


def test_the_last_of_equal_names_counts(ask: Ask) -> None:
    answer = ask(b'{"jsonrpc":"2.0","id":1,"id":2,"method":"ping"}')
    assert answer == {"jsonrpc": "2.0", "id": 2, "result": {}}


def test_invalid_utf_8_is_answered_with_the_id(ask: Ask) -> None:
    answer = ask(b'{"jsonrpc":"2.0","id":1,"method":"\xff\xfe"}')
    assert answer is not None
    assert (answer["id"], answer["error"]["code"]) == (1, -32700)


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-be"])
def test_utf_16_is_named(ask: Ask, encoding: str) -> None:
    answer = ask(json.dumps(PING).encode(encoding))
    assert answer is not None
    assert answer["error"]["code"] == -32700
    assert "UTF-16" in answer["error"]["message"]
