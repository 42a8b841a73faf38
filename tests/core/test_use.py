"""Calls are counted by agent, operation and hour, with the tokens of their answers, in the background."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
import time_machine
from django.db import connection
from django.test.utils import CaptureQueriesContext

from ctxhub.core.accounts.config import set_config
from ctxhub.core.events.cleanup import cleanup
from ctxhub.core.hub.overview import list_agents
from ctxhub.core.kit.caller import Caller
from ctxhub.core.kit.errors import InvalidInput
from ctxhub.core.models import EmptySearch, TokenUse
from ctxhub.core.text.token_count import count_tokens
from ctxhub.core.use import services
from ctxhub.core.use.queries import list_empty_searches, list_use
from ctxhub.core.use.tally import EMPTY_SEARCHES, WRITER, Call
from ctxhub.mcp.methods import answer
from ctxhub.mcp.requests import Request, Surface, Work
from ctxhub.mcp.subscriptions import Listening

NOON = datetime(2026, 1, 5, 12, tzinfo=UTC)


@pytest.fixture(autouse=True)
def time() -> Iterator[Any]:
    with time_machine.travel(NOON, tick=False) as traveller:
        yield traveller


def over_mcp(caller: Caller, tool: str, **arguments: Any) -> dict[str, Any]:
    params = {"name": tool, "arguments": arguments}
    found = answer(Request("tools/call", params, "2025-06-18", caller, Surface()))
    assert not isinstance(found, Listening)
    if not isinstance(found, Work):
        return found
    try:
        return found.run()
    except Exception as error:
        return found.failed(error)


def rows(caller: Caller, **query: Any) -> list[dict[str, Any]]:
    assert WRITER.flush()
    return list_use(caller.project_id, **query).objects()


def noted(caller: Caller, agent: str = "ada") -> None:
    Call(Caller(caller.project, agent), "get").answered(10)
    assert WRITER.flush()


# -- What is counted -------------------------------------------------------------------------------


def test_mcp_counts_calls_errors_and_the_tokens_that_it_tells(ada: Caller) -> None:
    told = [
        over_mcp(ada, "decision", action="set", key="api/auth", value="JWT"),
        over_mcp(ada, "decision", action="set", key="api/auth"),
        over_mcp(ada, "decision", action="get", key="api/auth"),
        over_mcp(ada, "decision", action="help"),
        over_mcp(ada, "nonsense"),
    ]
    tokens = [result["_meta"]["ctxhub/tokens"] for result in told]
    found = {row["operation"]: row for row in rows(ada, by=["operation"])}
    assert {name: (row["calls"], row["errors"], row["tokens"]) for name, row in found.items()} == {
        "decision.set": (2, 1, tokens[0] + tokens[1]),
        "decision.get": (1, 0, tokens[2]),
        "decision.help": (1, 0, tokens[3]),
        "unknown": (1, 1, tokens[4]),
    }
    assert found["decision.set"]["most_tokens"] == max(tokens[:2])
    assert found["decision.set"]["at"] == "2026-01-05T00:00:00Z"


def test_the_agent_who_speaks_is_counted(ada: Caller) -> None:
    over_mcp(ada, "decision", action="list", agent="eve")
    [row] = rows(ada, by=["agent"])
    assert (row["agent"], row["calls"]) == ("eve", 1)


def test_what_a_digest_and_a_brief_show_a_part_of_is_counted_whole(ada: Caller) -> None:
    text = "Tokens of sessions expire after fifteen minutes. " * 60
    over_mcp(ada, "decision", action="set", key="auth/expiry", value=text)
    over_mcp(ada, "search", query="sessions expire")
    over_mcp(ada, "get", refs=["decision:auth/expiry"], detail="digest")
    over_mcp(ada, "get", refs=["decision:auth/expiry"])
    over_mcp(ada, "brief", task="sessions expire", budget_tokens=200)
    found = {row["operation"]: row for row in rows(ada, by=["operation"])}
    least = count_tokens(text)
    # Nobody knows which hits would have been opened.
    assert found["search"]["tokens"] == found["search"]["whole_tokens"] < 150
    assert found["brief"]["tokens"] < 300 < least <= found["brief"]["whole_tokens"] < 2 * least
    # One digest saves, the other get shows all.
    assert least < found["get"]["tokens"] < found["get"]["whole_tokens"] < 3 * least
    assert found["decision.set"]["whole_tokens"] == found["decision.set"]["tokens"]


def test_of_a_restored_session_the_conversation_that_is_shown_is_counted_whole(ada: Caller) -> None:
    old, last = "We spoke of many other things. " * 900, "We agreed on mutual TLS for billing. " * 300
    for conversation in (old, last):
        over_mcp(ada, "session", action="save", session="one", conversation=conversation)
    over_mcp(ada, "session", action="restore", session="one", budget_tokens=200)
    found = {row["operation"]: row for row in rows(ada, by=["operation"])}["session.restore"]
    assert found["tokens"] <= 200
    assert count_tokens(last) <= found["whole_tokens"] <= count_tokens(last) + 200


def test_a_session_that_a_brief_names_is_not_counted_whole(ada: Caller) -> None:
    over_mcp(ada, "session", action="save", conversation="We agreed on mutual TLS for billing. " * 300)
    over_mcp(ada, "brief", task="mutual TLS for billing", budget_tokens=500)
    found = {row["operation"]: row for row in rows(ada, by=["operation"])}["brief"]
    assert found["whole_tokens"] < 1_000


def test_agents_tell_their_calls_of_24_hours(ada: Caller, time: Any) -> None:
    time.move_to(NOON - timedelta(hours=26))
    over_mcp(ada, "decision", action="list")
    time.move_to(NOON - timedelta(hours=23))
    over_mcp(ada, "decision", action="set", key="k", value="v")
    over_mcp(ada, "decision", action="get", key="k")
    over_mcp(ada, "decision", action="get", key="k")
    time.move_to(NOON)
    tokens = sum(row["tokens"] for row in rows(ada, since="24h"))
    [row] = [row for row in list_agents(ada.project_id).objects() if row["name"] == "ada"]
    assert (row["writes"], row["reads"], row["tokens"]) == (1, 2, tokens)
    assert list(row)[:2] == ["name", "last_seen"]
    assert list(row)[-3:] == ["writes", "reads", "tokens"]


# -- Reading it ------------------------------------------------------------------------------------


def test_buckets_begin_in_the_time_zone_of_the_project(ada: Caller, time: Any) -> None:
    set_config(caller=ada, values={"time_zone": "Asia/Tokyo"})
    for hour in (13, 14, 15, 16):  # Midnight in Tokyo is 15:00 UTC.
        time.move_to(datetime(2026, 1, 5, hour, 30, tzinfo=UTC))
        noted(ada)
    days = rows(ada, bucket="day")
    assert [(row["at"], row["calls"]) for row in days] == [
        ("2026-01-05T15:00:00Z", 2),
        ("2026-01-04T15:00:00Z", 2),
    ]
    assert [row["calls"] for row in rows(ada, bucket="hour")] == [1, 1, 1, 1]
    assert [(row["at"], row["calls"]) for row in rows(ada, bucket="week")] == [("2026-01-04T15:00:00Z", 4)]
    assert [(row["at"], row["calls"]) for row in rows(ada, bucket="month")] == [("2025-12-31T15:00:00Z", 4)]


def test_questions_that_find_nothing_are_kept(ada: Caller) -> None:
    over_mcp(ada, "decision", action="set", key="api/auth", value="JWT")
    for query in (
        "Where do we keep invoices?",
        "where do we  keep INVOICES?",
        "jwt",
        "password: hunter2hunter2",
    ):
        over_mcp(ada, "search", query=query)
    assert EMPTY_SEARCHES.flush()
    found = list_empty_searches(ada.project_id).objects()
    assert {(row["query"].casefold(), row["count"], row["agent"]) for row in found} >= {
        ("where do we keep invoices?", 2, "ada")
    }
    assert "jwt" not in {row["query"] for row in found}
    assert not any("hunter2hunter2" in row["query"] for row in found)
    assert list_empty_searches(ada.project_id, since="2026-01-06").rows == []


# -- Bounds ----------------------------------------------------------------------------------------


def test_many_names_do_not_fill_the_database(ada: Caller, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(services, "ROWS_OF_HOUR", 3)
    for number in range(10):
        noted(ada, f"agent-{number}")
    found = rows(ada, by=["agent"])
    assert sum(row["calls"] for row in found) == 10
    assert len(found) == 4
    assert next(row for row in found if not row["agent"])["calls"] == 7


def test_old_use_is_deleted_with_the_accesses(
    ada: Caller, time: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(services, "QUESTIONS_KEPT", 2)
    for days in (100, 80, 1, 0):
        time.move_to(NOON - timedelta(days=days))
        noted(ada)
        over_mcp(ada, "search", query=f"question {days}")
        EMPTY_SEARCHES.flush()
    WRITER.flush()
    set_config(caller=ada, values={"access_days": 0})
    cleanup(ada.project_id)
    assert TokenUse.objects.in_project(ada.project).values("hour").distinct().count() == 4
    assert EmptySearch.objects.in_project(ada.project).count() == 2
    set_config(caller=ada, values={"access_days": 90})
    cleanup(ada.project_id)
    assert TokenUse.objects.in_project(ada.project).values("hour").distinct().count() == 3


def test_a_flush_takes_the_same_statements_for_any_number_of_calls(ada: Caller) -> None:
    def statements(agents: int) -> int:
        call_of = [Call(Caller(ada.project, f"agent-{number}"), "get") for number in range(agents)]
        for call in call_of:
            call.answered(1)
        with CaptureQueriesContext(
            connection,
        ) as queries:
            assert WRITER.flush()
        return len(queries)

    assert statements(1) == statements(200)


def test_a_deleted_project_stops_nothing(ada: Caller, cy: Caller) -> None:
    noted(ada)
    Call(Caller(cy.project, "x"), "get").answered(1)
    Call(ada, "get").answered(1)
    cy.project.delete()
    assert WRITER.flush()
    assert rows(ada)[0]["calls"] == 2


def test_other_projects_are_not_seen(ada: Caller, cy: Caller) -> None:
    noted(ada)
    assert rows(cy) == []
    assert list_empty_searches(cy.project_id).rows == []


def test_a_wrong_period_is_told(ada: Caller) -> None:
    with pytest.raises(InvalidInput, match="since is not before until"):
        list_use(ada.project_id, since="1h", until="2h")
