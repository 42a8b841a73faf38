"""Query plans of messages: an inbox scans one index in its order, however many messages there are."""

import re
from collections.abc import Callable
from functools import partial
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from ctxhub.core.events.log import count_updates
from ctxhub.core.events.mail import count_urgent
from ctxhub.core.kit import clock, sql
from ctxhub.core.kit.caller import Caller
from messaging.messages.inbox import count_news, list_inbox, unread_of
from messaging.messages.queries import list_thread, turns_of
from messaging.messages.requests import next_request
from messaging.messages.services import read_messages_of
from messaging.models import Message
from messaging.retention import remove_old_messages, tell_overdue
from tests.databases import statements_within_cpu_seconds, take_statistics
from tests.messaging.mail import known, send
from tests.messaging.many import fill
from tests.query_plans import explained, plan_by_indexes, start_compact

UNREAD, ALL = "messaging_unread", "messaging_inbox"
INBOX_INDEXES: list[tuple[dict[str, Any], str]] = [
    ({}, UNREAD),
    ({"unread": False}, ALL),
    ({"type": "info"}, UNREAD),
    ({"type": "warning", "unread": False}, ALL),
    ({"priority": "high"}, UNREAD),
    ({"priority": "low", "type": "request", "unread": False}, ALL),
    ({"state": "open"}, UNREAD),
    ({"state": "open", "unread": False}, ALL),
    ({"since": "1h"}, UNREAD),
    ({"since": "1h", "unread": False, "type": "info"}, ALL),
]


@pytest.fixture
def many(ada: Caller, ben: Caller) -> Caller:
    start_compact(Message)
    known(ada, ben)
    fill(ada, 600)
    fill(ada, 600, read=True)
    fill(ada, 600, to="eve")
    plan_by_indexes()
    return ben


def plans(work: Callable[[], Any], table: str) -> list[str]:
    """The query plans of the statements of `work` that name the table."""
    with CaptureQueriesContext(connection) as captured:
        work()
    statements = [query["sql"] for query in captured.captured_queries if table in query["sql"]]
    assert statements
    return [explained(statement) for statement in statements]


def sorts(plan: str) -> int:
    return len(re.findall(r"TEMP B-TREE FOR (?:LAST.*)?ORDER BY|Sort  \(", plan))


@pytest.mark.parametrize("page", ["first", "next"])
def test_an_inbox_scans_its_index(many: Caller, page: str) -> None:
    for query, index in INBOX_INDEXES:
        cursor = list_inbox(many, limit=5, **query).next if page == "next" else None
        assert cursor or page == "first"
        page_of = partial(list_inbox, many, limit=5, **query, cursor=cursor)
        [plan] = plans(page_of, "messaging_delivery d")
        branches = re.findall(r"messaging_delivery d|SEARCH d |SCAN d", plan)
        assert len(re.findall(rf"\b{index}\b", plan)) >= len(branches) - 1, (query, plan)
        assert not re.search(r"SCAN [dm]\b|Seq Scan on messaging", plan), (query, plan)
        # The union branches are merged into a page, which is then ordered: two sorts of a few rows.
        assert sorts(plan) <= 2, (query, plan)


@pytest.mark.parametrize(
    ("work", "index"),
    [
        (lambda ben: count_news(ben, None), UNREAD),
        (count_urgent, "messaging_urgent"),
        (lambda ben: unread_of(ben.project_id, ["ada", "ben"]), UNREAD),
        (lambda ben: next_request(ben.project_id, "ben", clock.now()), ALL),
    ],
    ids=["unread", "urgent", "unread of many", "next request"],
)
def test_frequent_queries_use_an_index(many: Caller, work: Callable[[Caller], Any], index: str) -> None:
    [plan] = plans(lambda: work(many), "messaging_delivery")
    assert re.search(rf"\b{index}\b", plan), plan
    assert not re.search(r"SCAN (d|messaging)|Seq Scan on messaging", plan), plan


def test_new_messages_are_looked_up_by_the_refs_of_events(many: Caller) -> None:
    first = send(Caller(many.project, "ada"), "first", to=["ben"])
    [plan] = plans(lambda: count_updates(many, since="e0"), "messaging_delivery d")
    assert not re.search(r"SCAN [dm]\b|Seq Scan on messaging", plan), plan
    assert count_updates(many, since="e0")["messages"] == 1, first


def test_a_thread_is_found_by_its_index(many: Caller) -> None:
    first = send(many, "first", to=["ada"])
    for _ in range(20):
        send(many, "more", reply_to=first)
    plan = plans(lambda: list_thread(many.project_id, first), "page")[0]
    assert "messaging_thread" in plan
    assert not re.search(r"SCAN m|Seq Scan on messaging", plan), plan


def test_neighbours_and_replies_of_a_message_are_found_by_indexes(many: Caller) -> None:
    first = send(many, "first", to=["ada"])
    ids = [send(many, "more", reply_to=first) for _ in range(20)]
    [plan] = plans(lambda: sql.rows(*turns_of(many.project_id, [first, *ids])), "messaging_message")
    assert plan.count("messaging_thread") == 2, plan
    assert "messaging_replies" in plan
    assert not re.search(r"SCAN ([fnpm]|messaging_message)\b|Seq Scan on messaging", plan), plan


def test_overdue_and_old_messages_are_found_by_their_indexes(many: Caller) -> None:
    [plan] = plans(lambda: tell_overdue(many.project_id, clock.now()), "messaging_message")
    assert "messaging_ack_falls_due" in plan
    found = plans(
        lambda: remove_old_messages(many.project_id, clock.now(), sparing=True, at_most=5),
        "messaging_message m",
    )
    assert "messaging_message_oldest" in found[0]
    assert sorts(found[0]) == 0


def test_an_inbox_is_fast_with_statistics_of_empty_tables(ada: Caller, ben: Caller) -> None:
    known(ada, ben)
    take_statistics()
    fill(ada, 3_000)
    with statements_within_cpu_seconds(1):
        for query, _ in INBOX_INDEXES:
            assert len(list_inbox(ben, **query).rows) == 20


def test_marking_all_as_read_is_fast_with_statistics_of_an_empty_table(ada: Caller, ben: Caller) -> None:
    """As in a new hub: PostgreSQL then expects one row, and compared each row with each."""
    take_statistics()
    fill(ada, 6_000)
    with statements_within_cpu_seconds(2):
        assert read_messages_of(caller=ben, everything=True) == {"marked": 6_000}
