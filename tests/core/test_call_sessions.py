"""The session that a call names: by argument, by header, and what it may be."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from ctxhub.core.kit.caller import Caller
from ctxhub.core.kit.errors import Conflict, InvalidInput
from ctxhub.toolbox.dispatch import call
from ctxhub.toolbox.help import help_for
from ctxhub.toolbox.picking import find_tool
from tests.hub import RestClient
from tests.periodic import prevent_periodic_work
from tests.probe import PROBE, probe_tool

CREDENTIAL = "ghp_" + "a1B2c3D4e5F6g7H8i9J0" * 2
BAD_NAMES = ["  ", "x" * 101, "${SESSION}", CREDENTIAL, "a\0b"]


@pytest.fixture(autouse=True)
def _probe() -> Iterator[None]:
    with probe_tool():
        yield


def look(caller: Caller, **arguments: Any) -> dict[str, Any]:
    return call(caller, PROBE, {"action": "look", **arguments})


# -- The argument ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("named", "session"),
    [("evening", "evening"), (" evening ", "evening"), (5, "5"), ("5", "5"), ("session:5", "session:5")],
)
def test_every_call_may_name_its_session(ada: Caller, named: Any, session: str) -> None:
    assert look(ada, session=named)["session"] == session
    assert call(ada, PROBE, {"session": named})["session"] == session


@pytest.mark.parametrize("named", [None, ""])
def test_the_argument_beats_the_session_of_the_caller(ada: Caller, named: Any) -> None:
    caller = replace(ada, session="header")
    assert look(caller, session="argument")["session"] == "argument"
    assert look(caller, session=named)["session"] == "header"


def test_an_action_that_declares_the_argument_gets_it(ada: Caller) -> None:
    told = call(replace(ada, session="header"), PROBE, {"action": "take", "session": "argument"})
    assert (told["argument"], told["session"]) == ("argument", "header")


@pytest.mark.parametrize("named", [*BAD_NAMES, True, 5.5, ["evening"], {"id": 5}])
def test_a_session_is_an_id_or_a_plain_name(ada: Caller, named: Any) -> None:
    with pytest.raises(InvalidInput, match=r"^session"):
        look(ada, session=named)


def test_a_session_that_is_not_used_is_not_looked_up(ada: Caller) -> None:
    def statements(**arguments: Any) -> int:
        with CaptureQueriesContext(connection) as captured:
            call(ada, "decision", {"action": "list", **arguments})
        return len(captured)

    for session in ("", "evening", 999_999):  # Each is noted as heard of, once a minute.
        prevent_periodic_work(ada.in_session(session))
    statements()
    assert statements(session="evening") == statements(session=999_999) == statements()


def test_a_session_is_known_to_every_action_and_listed_by_none(ada: Caller) -> None:
    with pytest.raises(InvalidInput) as refused:
        call(ada, "decision", {"action": "get", "name": "k", "session": "evening"})
    assert refused.value.details["did_you_mean"] == {"name": "key"}
    assert "session" not in refused.value.details["allowed"]
    assert "session" in help_for(find_tool("decision"), ada)["everywhere"]


def test_a_repeated_write_of_another_session_is_another_call(ada: Caller) -> None:
    def write(caller: Caller, **arguments: Any) -> dict[str, Any]:
        return call(caller, PROBE, {"action": "write", **arguments}, request_id="r1")

    first = write(replace(ada, session="header"), session="evening")
    assert write(replace(ada, session="other"), session="evening") == first
    with pytest.raises(Conflict):
        write(ada, session="morning")


# -- REST ------------------------------------------------------------------------------------------


def rest_session(client: RestClient, named: str, **body: Any) -> dict[str, Any]:
    answer: dict[str, Any] = client.post("call/probe/look/", body, {"Ctxhub-Session": named}).body
    return answer


def test_the_header_names_the_session_over_rest(ada_rest: RestClient) -> None:
    assert rest_session(ada_rest, "evening")["session"] == "evening"
    assert rest_session(ada_rest, "")["session"] == ""
    assert rest_session(ada_rest, "Abend é".encode().decode("latin-1"))["session"] == "Abend é"
    assert rest_session(ada_rest, "header", session="argument")["session"] == "argument"


@pytest.mark.parametrize("named", ["x" * 101, "${SESSION}", CREDENTIAL])
def test_a_bad_header_is_refused_over_rest(ada_rest: RestClient, named: str) -> None:
    for reply in (
        ada_rest.send("GET", "/api/v1/projects/apollo/decisions/", None, {"Ctxhub-Session": named}),
        ada_rest.post("decisions/", {"key": "k", "value": "x"}, {"Ctxhub-Session": named}),
    ):
        assert (reply.status, reply.body["error"]) == (400, "invalid")
        assert reply.body["message"].startswith("Ctxhub-Session")


def test_a_query_names_no_session(ada_rest: RestClient) -> None:
    assert ada_rest.get("decisions/", session="evening").status == 400


def test_the_header_is_no_part_of_a_repeated_request(ada_rest: RestClient) -> None:
    for session in ("evening", "morning"):
        headers = {"Idempotency-Key": "k1", "Ctxhub-Session": session}
        assert ada_rest.post("decisions/", {"key": "k", "value": "x"}, headers).body["result"] == "created"
