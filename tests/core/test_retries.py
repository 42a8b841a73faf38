"""A write that is sent again under its request id answers as it did, and writes nothing."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
import time_machine

from ctxhub.core.caller import Caller
from ctxhub.core.errors import Conflict, InvalidInput
from ctxhub.core.models import Event, StoredAnswer
from ctxhub.core.toolbox.dispatch import call
from memory.services.decisions import set_decision
from tests.hub import McpClient
from tests.tables import dump_all

NOON = datetime(2026, 11, 21, 12, tzinfo=UTC)


def set_(caller: Caller, value: Any, request_id: str | None, **arguments: Any) -> dict[str, Any]:
    return call(
        caller, "decision", {"action": "set", "key": "k", "value": value, **arguments}, request_id=request_id
    )


def test_a_retry_answers_as_the_first_time_and_writes_nothing(ada: Caller) -> None:
    first = set_(ada, "a", "r-1")
    set_(ada, "b", None)
    before = dump_all()
    assert set_(ada, "a", "r-1") == first == {**first, "result": "created", "version": "1.0.0"}
    assert dump_all() == before


def test_a_retry_with_other_arguments_is_still_the_same_request(ada: Caller) -> None:
    first = set_(ada, "a", "r-1")
    assert set_(ada, "other", "r-1") == first
    assert call(ada, "decision", {"action": "delete", "key": "k"}, request_id="r-1") == first


def test_each_agent_has_its_own_request_ids(ada: Caller, ben: Caller) -> None:
    set_(ada, "a", "r-1")
    assert set_(ben, "b", "r-1")["version"] == "1.0.1"
    assert set_(ada, "c", "r-1", agent="zoe")["version"] == "1.0.2"
    assert set_(ada, "d", "r-1", agent="ZOE")["version"] == "1.0.2"


def test_a_refused_write_is_not_remembered(ada: Caller) -> None:
    with pytest.raises(Conflict):
        set_(ada, "a", "r-1", expected_version="9")
    assert not StoredAnswer.objects.in_project(ada.project).exists()
    assert set_(ada, "a", "r-1")["result"] == "created"


def test_a_batch_with_errors_in_it_is_remembered_whole(ada: Caller) -> None:
    items = [{"key": "a", "value": 1}, {"key": "b"}]
    batch = {"action": "set_batch", "items": items, "atomic": False}
    first = call(ada, "decision", batch, request_id="r-1")
    assert call(ada, "decision", batch, request_id="r-1") == first
    assert Event.objects.in_project(ada.project).count() == 1


def test_a_request_id_is_forgotten_after_a_day(ada: Caller) -> None:
    for hours, version in ((0, "1.0.0"), (23, "1.0.0"), (25, "1.0.1"), (47, "1.0.1")):
        with time_machine.travel(NOON + timedelta(hours=hours), tick=False):
            assert set_(ada, f"after {hours}", "r-1")["version"] == version


def test_a_read_is_never_remembered(ada: Caller) -> None:
    for value in ("a", "b"):
        set_decision(caller=ada, key="k", value=value)
        answer = call(ada, "decision", {"action": "get", "key": "k"}, request_id="r-1")
        assert answer["decision"]["value"] == value


@pytest.mark.parametrize("request_id", ["  ", "r" * 201, "r\x00", "\ud800"])
def test_a_request_id_must_be_a_name(ada: Caller, request_id: str) -> None:
    with pytest.raises(InvalidInput, match="request_id"):
        set_(ada, "a", request_id)


@pytest.mark.parametrize("request_id", [5, "r-1", "é" * 200])
def test_the_wire_carries_a_request_id_in_meta(ada_mcp: McpClient, request_id: Any) -> None:
    for value in ("a", "b"):
        arguments = {"action": "set", "key": "k", "value": value}
        ada_mcp.result("decision", arguments, {"ctxhub/request_id": request_id})
    assert ada_mcp.call("decision", "get", key="k")["decision"]["value"] == "a"


@pytest.mark.parametrize("request_id", [["r"], {"r": 1}, True])
def test_what_is_no_name_on_the_wire_is_refused(ada_mcp: McpClient, request_id: Any) -> None:
    arguments = {"action": "set", "key": "k", "value": "x"}
    assert ada_mcp.result("decision", arguments, {"ctxhub/request_id": request_id})["isError"] is True
    assert ada_mcp.call("decision", "list")["count"] == 0


def test_answers_older_than_a_day_are_forgotten(ada: Caller) -> None:
    with time_machine.travel(NOON, tick=False):
        set_(ada, "a", "r-1")
    with time_machine.travel(NOON + timedelta(hours=25), tick=False):
        set_(ada, "b", "r-2")
    assert [answer.request_id for answer in StoredAnswer.objects.in_project(ada.project)] == ["r-2"]
