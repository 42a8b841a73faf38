"""Request ids: a write sent again under its request id returns the stored answer and writes nothing."""

import json
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
import time_machine

from ctxhub.core.kit.caller import Caller
from ctxhub.core.kit.errors import Conflict, InvalidInput
from ctxhub.core.models import Event, Project, StoredAnswer
from ctxhub.toolbox.dispatch import call
from memory.decisions.services import set_decision
from tests.hub import LiveHub, McpClient
from tests.tables import dump_all

NOON = datetime(2026, 11, 21, 12, tzinfo=UTC)


def set_(caller: Caller, value: Any, request_id: str | None, **arguments: Any) -> dict[str, Any]:
    return call(
        caller, "decision", {"action": "set", "key": "k", "value": value, **arguments}, request_id=request_id
    )


def test_a_retry_returns_the_first_answer_and_writes_nothing(ada: Caller) -> None:
    first = set_(ada, "a", "r-1")
    set_(ada, "b", None)
    before = dump_all()
    assert set_(ada, "a", "r-1") == first == {**first, "result": "created", "version": "1.0.0"}
    assert dump_all() == before


def test_nulls_and_key_order_in_items_are_the_same_call(ada: Caller) -> None:
    first = [{"key": "a", "value": 1}, {"key": "b", "value": 2}]
    repeated = '[{"value": 1, "key": "a", "layer": null}, {"key": "b", "value": 2}]'
    answers = [
        call(ada, "decision", {"action": "set_batch", "items": items}, request_id="r-1")
        for items in (first, repeated)
    ]
    assert answers[0] == answers[1]
    with pytest.raises(Conflict):
        call(ada, "decision", {"action": "set_batch", "items": first[::-1]}, request_id="r-1")
    assert Event.objects.in_project(ada.project).count() == 2


OTHER_CALLS: dict[str, tuple[str, dict[str, Any]]] = {
    "another value": ("decision", {"action": "set", "key": "k", "value": "b"}),
    "another type": ("decision", {"action": "set", "key": "k", "value": 1}),
    "one argument more": ("decision", {"action": "set", "key": "k", "value": "a", "tags": ["api"]}),
    "another operation with the same arguments": (
        "decision",
        {"action": "quick_set", "key": "k", "value": "a"},
    ),
    "one that removes": ("delete", {"refs": ["decision:k"]}),
    "another tool": ("message", {"action": "send", "text": "hello"}),
    "a batch": ("decision", {"action": "set_batch", "items": [{"key": "k", "value": "a"}]}),
}


@pytest.mark.parametrize(("tool", "arguments"), OTHER_CALLS.values(), ids=OTHER_CALLS)
def test_a_request_id_of_another_call_is_a_conflict(
    ada: Caller, tool: str, arguments: dict[str, Any]
) -> None:
    first = set_(ada, "a", "r-1")
    before = dump_all()
    with pytest.raises(Conflict, match="'r-1' was another call's") as refused:
        call(ada, tool, arguments, request_id="r-1")
    assert "new id" in refused.value.hint
    assert dump_all() == before
    assert set_(ada, "a", "r-1") == first


SAME_CALLS: dict[str, dict[str, Any]] = {
    "another order": {"tags": ["a", "b"], "value": "v", "key": "k", "metadata": {"b": 1, "a": 2}},
    "nulls": {"key": "k", "value": "v", "tags": ["a", "b"], "metadata": {"a": 2, "b": 1}, "layer": None},
    "lists as texts": {"key": "k", "value": "v", "tags": '["a", "b"]', "metadata": '{"a": 2, "b": 1}'},
    "the action named": {
        "action": "set",
        "key": "k",
        "value": "v",
        "tags": ["a", "b"],
        "metadata": {"a": 2, "b": 1},
    },
}


@pytest.mark.parametrize("repeated", SAME_CALLS.values(), ids=SAME_CALLS)
def test_equivalent_arguments_are_the_same_call(ada: Caller, repeated: dict[str, Any]) -> None:
    arguments = {"key": "k", "value": "v", "tags": ["a", "b"], "metadata": {"a": 2, "b": 1}}
    first = call(ada, "decision", arguments, request_id="r-1")
    assert call(ada, "decision", repeated, request_id="r-1") == first
    assert Event.objects.in_project(ada.project).count() == 1


def test_a_stored_answer_without_a_digest_is_returned(ada: Caller) -> None:
    first = set_(ada, "a", "r-1")
    StoredAnswer.objects.in_project(ada.project).update(digest="")
    assert set_(ada, "a", "r-1") == first


def test_arguments_too_deep_for_a_digest_are_refused(ada: Caller) -> None:
    nested: list[Any] = []
    for _ in range(100_000):
        nested = [nested]
    with pytest.raises(InvalidInput, match="not JSON"):
        call(ada, "message", {"text": "x", "payload": nested}, request_id="r-1")
    while nested:  # Freed level by level: its destructor must not recurse either.
        nested = nested.pop()


def test_each_agent_has_its_own_request_ids(ada: Caller, ben: Caller) -> None:
    set_(ada, "a", "r-1")
    assert set_(ben, "b", "r-1")["version"] == "1.0.1"
    assert set_(ada, "c", "r-1", agent="zoe")["version"] == "1.0.2"
    assert set_(ada, "c", "r-1", agent="ZOE")["version"] == "1.0.2"
    with pytest.raises(Conflict):
        set_(ada, "d", "r-1", agent="ZOE")


def test_the_answer_of_a_refused_write_is_not_stored(ada: Caller) -> None:
    with pytest.raises(Conflict):
        set_(ada, "a", "r-1", expected_version="9")
    assert not StoredAnswer.objects.in_project(ada.project).exists()
    assert set_(ada, "a", "r-1")["result"] == "created"


def test_the_answer_of_a_batch_with_errors_is_stored_whole(ada: Caller) -> None:
    items = [{"key": "a", "value": 1}, {"key": "b"}]
    batch = {"action": "set_batch", "items": items, "atomic": False}
    first = call(ada, "decision", batch, request_id="r-1")
    assert call(ada, "decision", batch, request_id="r-1") == first
    assert Event.objects.in_project(ada.project).count() == 1


def test_a_request_id_expires_after_a_day(ada: Caller) -> None:
    for hours, value, version in (
        (0, "a", "1.0.0"),
        (23, "a", "1.0.0"),
        (25, "b", "1.0.1"),
        (47, "b", "1.0.1"),
    ):
        with time_machine.travel(NOON + timedelta(hours=hours), tick=False):
            assert set_(ada, value, "r-1")["version"] == version


def test_the_answer_of_a_read_is_never_stored(ada: Caller) -> None:
    for value in ("a", "b"):
        set_decision(caller=ada, key="k", value=value)
        answer = call(ada, "decision", {"action": "get", "key": "k"}, request_id="r-1")
        assert answer["decision"]["value"] == value


@pytest.mark.parametrize("request_id", ["  ", "r" * 201, "r\x00", "\ud800"])
def test_an_invalid_request_id_is_refused(ada: Caller, request_id: str) -> None:
    with pytest.raises(InvalidInput, match="request_id"):
        set_(ada, "a", request_id)


@pytest.mark.parametrize("request_id", [5, "r-1", "é" * 200])
def test_mcp_takes_a_request_id_in_meta(ada_mcp: McpClient, request_id: Any) -> None:
    for value in ("a", "b"):
        arguments = {"action": "set", "key": "k", "value": value}
        ada_mcp.result("decision", arguments, {"ctxhub/request_id": request_id})
    assert ada_mcp.call("decision", "get", key="k")["decision"]["value"] == "a"


def test_ids_of_json_rpc_are_not_request_ids(hub: LiveHub, ada_token: str, apollo: Project) -> None:
    """Every connection numbers its messages from 1."""
    for key in ("a", "b"):
        connection = hub.mcp(ada_token)
        assert connection.call("decision", "set", key=key, value="x")["result"] == "created"
        assert next(connection._ids) == 2
    assert not StoredAnswer.objects.in_project(apollo).exists()


def test_a_reused_numeric_request_id_is_a_conflict_over_mcp(ada_mcp: McpClient, apollo: Project) -> None:
    first = {"action": "set", "key": "k", "value": "x"}
    ada_mcp.result("decision", first, {"ctxhub/request_id": 1})
    refused_result = ada_mcp.result("message", {"text": "hello"}, {"ctxhub/request_id": 1})
    body = json.loads(refused_result["content"][0]["text"])
    assert (refused_result["isError"], body["error"]) == (True, "conflict")
    assert "new id" in body["hint"]
    assert ada_mcp.call("hub", "stats")["messages"] == 0


@pytest.mark.parametrize("request_id", [["r"], {"r": 1}, True])
def test_an_invalid_request_id_is_refused_over_mcp(ada_mcp: McpClient, request_id: Any) -> None:
    arguments = {"action": "set", "key": "k", "value": "x"}
    assert ada_mcp.result("decision", arguments, {"ctxhub/request_id": request_id})["isError"] is True
    assert ada_mcp.call("decision", "list")["count"] == 0


def test_stored_answers_older_than_a_day_are_deleted(ada: Caller) -> None:
    with time_machine.travel(NOON, tick=False):
        set_(ada, "a", "r-1")
    with time_machine.travel(NOON + timedelta(hours=25), tick=False):
        set_(ada, "b", "r-2")
    assert [answer.request_id for answer in StoredAnswer.objects.in_project(ada.project)] == ["r-2"]
