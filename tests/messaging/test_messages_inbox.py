"""The inbox: order, filters and pages; reading, acknowledging, receipts and threads."""

import threading
from datetime import UTC, datetime
from typing import Any

import pytest
import time_machine
from django.db import connection

from ctxhub.core.accounts import agents
from ctxhub.core.events.log import count_updates, latest_cursor
from ctxhub.core.events.mail import count_urgent
from ctxhub.core.hub.named_views import all_views
from ctxhub.core.hub.overview import list_agents
from ctxhub.core.kit.caller import Caller
from ctxhub.core.kit.errors import InvalidInput, NotFound
from ctxhub.core.kit.transactions import write_transaction
from ctxhub.toolbox.dispatch import call
from messaging.messages.inbox import list_inbox
from messaging.messages.queries import list_receipts, list_thread, open_messages
from messaging.messages.requests import claim_request, finish_request
from messaging.messages.services import acknowledge_messages, read_messages_of
from tests.messaging.mail import events, inbox, known, send, texts, verbs
from tests.timing import PATIENCE_SECONDS


def marked(caller: Caller, *ids: int) -> int:
    return read_messages_of(caller=caller, ids=ids)["marked"]


# -- Order and filters -----------------------------------------------------------------------------


def test_urgent_first_then_newest(ada: Caller, ben: Caller) -> None:
    for priority in ("low", "critical", "medium", "high", "critical", "low"):
        send(ada, priority, to=["ben"], priority=priority)
    rows = inbox(ben)
    assert [row["priority"] for row in rows] == ["critical", "critical", "high", "medium", "low", "low"]
    assert rows[0]["id"] > rows[1]["id"]


FILTERS: list[tuple[dict[str, Any], str]] = [
    ({}, "w1 r2 i3 d4 r1"),
    ({"unread": False}, "w1 r2 i3 d4 r1 read"),
    ({"type": "request"}, "r1 r2"),
    ({"type": "decision"}, "d4"),
    ({"type": 2}, "w1"),
    ({"priority": "low"}, "w1 r1"),
    ({"priority": 3}, "i3"),
    ({"priority": "low", "type": "warning"}, "w1"),
    ({"priority": "low", "type": "info"}, ""),
    ({"priority": "medium", "unread": False}, "r2 read"),
    ({"state": "open"}, "r1 r2"),
    ({"state": "open", "type": "info"}, ""),
    ({"state": "done"}, ""),
]


@pytest.mark.parametrize(("query", "expected"), FILTERS, ids=str)
def test_each_filter_narrows_it(ada: Caller, ben: Caller, query: dict[str, Any], expected: str) -> None:
    for text, kind, priority in (
        ("w1", "warning", 1),
        ("r2", "request", 2),
        ("i3", "info", 3),
        ("d4", "decision", 4),
        ("r1", "request", 1),
    ):
        send(ada, text, to=["ben"], type=kind, priority=priority)
    marked(ben, send(ada, "read", to=["ben"]))
    send(ada, "other", to=["eve"], type="request")
    assert set(texts(ben, **query)) == set(expected.split())


def test_the_filter_by_state_uses_the_present_state(ada: Caller, ben: Caller) -> None:
    eve = ada.speaking_as("eve")
    known(ben, eve)
    with time_machine.travel(datetime(2026, 1, 5, 10, tzinfo=UTC), tick=False) as time:
        for text in ("open", "claimed", "done"):
            row_id = send(ada, text, type="request")
            if text != "open":
                claim_request(caller=eve, message_id=row_id, minutes=30)
            if text == "done":
                finish_request(caller=eve, message_id=row_id)
        for state in ("open", "claimed", "done"):
            assert texts(ben, state=state) == [state]
        time.shift(1_800)
        assert set(texts(ben, state="open")) == {"open", "claimed"}
        assert texts(ben, state="claimed") == []
        assert texts(ben, state="3") == ["done"]


def test_since_takes_a_time_and_a_cursor(ada: Caller, ben: Caller) -> None:
    with time_machine.travel(datetime(2026, 1, 5, 10, tzinfo=UTC)) as time:
        send(ada, "old", to=["ben"], priority="high")
        cursor = str(latest_cursor(ada.project_id))
        time.shift(3_600)
        send(ada, "new", to=["ben"])
        assert texts(ben, since=cursor) == texts(ben, since="30m") == texts(ben, since="2026-01-05T10:30:00Z")
        assert texts(ben, since="30m") == ["new"]
        assert texts(ben, since="2h", priority="high") == ["old"]
        assert texts(ben, since="2h") == ["old", "new"]


@pytest.mark.parametrize(
    "query", [{}, {"unread": False}, {"since": "1h"}, {"priority": 2}, {"type": "info"}], ids=str
)
def test_pages_show_each_message_once(ada: Caller, ben: Caller, query: dict[str, Any]) -> None:
    for n in range(23):
        send(ada, f"m{n}", to=["ben"], priority=1 + n % 4, type=1 + n % 4)
    whole = texts(ben, limit=200, **query)
    found: list[str] = []
    cursor = None
    while True:
        page = list_inbox(ben, limit=4, cursor=cursor, **query)
        found += [row["text"] for row in page.objects()]
        if (cursor := page.next) is None:
            break
    assert found == whole
    assert len(found) == len(set(found))


@pytest.mark.parametrize(
    ("query", "error"),
    [
        ({"priority": "urgent"}, "priority: 'urgent'"),
        ({"type": "question"}, "type: 'question'"),
        ({"state": "none"}, "state: 'none' is not known; use one of: open, claimed, done"),
        ({"state": "new"}, "state: 'new'"),
        ({"since": "yesterday"}, "since: 'yesterday' is not a time"),
        ({"limit": 0}, "limit is 0"),
        ({"limit": 201}, "limit is 201"),
        ({"cursor": "x"}, "cursor is not one that this list gave"),
    ],
)
def test_bad_queries_are_refused(ben: Caller, query: dict[str, Any], error: str) -> None:
    with pytest.raises(InvalidInput, match=error):
        inbox(ben, **query)


def test_a_long_text_is_complete(ada: Caller, ben: Caller) -> None:
    send(ada, "x" * 5_000, to=["ben"])
    assert texts(ben) == ["x" * 5_000]


# -- Reading ---------------------------------------------------------------------------------------


def test_reading_by_one_agent_hides_nothing_from_another(ada: Caller, ben: Caller) -> None:
    eve = ada.speaking_as("eve")
    known(ben, eve)
    row_id = send(ada, "all")
    assert marked(ben, row_id) == 1
    assert (texts(ben), texts(ben, unread=False), texts(eve)) == ([], ["all"], ["all"])


def test_only_own_unread_messages_are_counted_as_marked(ada: Caller, ben: Caller, cy: Caller) -> None:
    mine, others = send(ada, to=["ben"]), send(ada, to=["eve"])
    assert marked(ben, mine, others, send(cy), 9**9) == 1
    assert marked(ben, mine, others) == 0
    assert texts(ada.speaking_as("eve")) == ["hello"]
    assert verbs(ada) == ["sent", "sent"]


def test_all_marks_all_own_messages(ada: Caller, ben: Caller, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("messaging.messages.services.MARKED_AT_ONCE", 2)
    for _ in range(5):
        send(ada, to=["ben", "eve"])
    assert read_messages_of(caller=ben, everything=True) == {"marked": 5}
    assert read_messages_of(caller=ben, everything=True) == {"marked": 0}
    assert len(texts(ada.speaking_as("eve"))) == 5


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        ({}, "Give ids, or all"),
        ({"ids": [1], "everything": True}, "Give ids, or all"),
        ({"ids": []}, "ids is empty"),
        ({"ids": [0]}, r"ids\[0\]: 0 is not the id"),
        ({"ids": [2**63]}, "is not the id"),
        ({"ids": list(range(1, 202))}, "201 entries"),
    ],
)
def test_invalid_input_of_read_is_refused_with_the_reason(
    ben: Caller, arguments: dict[str, Any], error: str
) -> None:
    with pytest.raises(InvalidInput, match=error):
        read_messages_of(caller=ben, **arguments)


# -- Acknowledging ---------------------------------------------------------------------------------


def test_an_acknowledgement_is_recorded_once_and_marks_as_read(ada: Caller, ben: Caller) -> None:
    row_id = send(ada, to=["ben", "eve"], ack=True)
    assert acknowledge_messages(caller=ben, ids=[row_id]) == {"acked": 1}
    assert acknowledge_messages(caller=ben, ids=[row_id]) == {"acked": 0}
    assert (texts(ben), inbox(ben, unread=False)[0]["ack"]) == ([], None)
    assert inbox(ada.speaking_as("eve"))[0]["ack"] is True
    assert events(ada)[1:] == [("acked", f"message:{row_id}", {"to": ["ada"]})]


def test_acknowledging_a_message_without_request_marks_it_as_read(ada: Caller, ben: Caller) -> None:
    requested, unrequested = send(ada, to=["ben"], ack_within="2h"), send(ada, to=["ben"])
    answer = acknowledge_messages(caller=ben, ids=[requested, unrequested])
    assert answer == {
        "acked": 1,
        "hint": f"message {unrequested} asked for no acknowledgement; marked as read.",
    }
    assert texts(ben) == []


def test_acknowledging_a_message_of_another_agent_acknowledges_nothing(
    ada: Caller, ben: Caller, cy: Caller
) -> None:
    mine, others, foreign = (
        send(ada, to=["ben"], ack=True),
        send(ada, to=["eve"], ack=True),
        send(cy, ack=True),
    )
    for wrong in (others, foreign, 9**9):
        with pytest.raises(NotFound, match=f"message {wrong}: not addressed to 'ben'"):
            acknowledge_messages(caller=ben, ids=[mine, wrong])
    assert inbox(ben)[0]["ack"] is True


def test_a_new_agent_acknowledges_a_message_to_everyone(ada: Caller, ben: Caller) -> None:
    assert acknowledge_messages(caller=ben, ids=[send(ada, ack=True)]) == {"acked": 1}


# -- Receipts, threads and refs --------------------------------------------------------------------


def test_status_lists_who_has_read_and_acknowledged(ada: Caller, ben: Caller) -> None:
    row_id = send(ada, to=["zoe", "ben"], ack=True)
    acknowledge_messages(caller=ben, ids=[row_id])
    rows = list_receipts(ada.project_id, row_id).objects()
    assert [row["agent"] for row in rows] == ["ben", "zoe"]
    assert rows[0]["read_at"]
    assert rows[0]["acked_at"]
    assert rows[1]["read_at"] is None


def test_receipts_are_paged(ada: Caller) -> None:
    row_id = send(ada, to=[f"a{n}" for n in range(9)])
    first = list_receipts(ada.project_id, row_id, limit=5)
    second = list_receipts(ada.project_id, row_id, limit=5, cursor=first.next)
    assert [row[0] for row in (*first.rows, *second.rows)] == [f"a{n}" for n in range(9)]
    assert second.next is None


def test_a_thread_is_found_by_any_of_its_messages_and_paged(ada: Caller, ben: Caller) -> None:
    first = send(ada, "m0", to=["ben"])
    ids = [first, *(send(ben, f"m{n}", reply_to=first) for n in range(1, 6))]
    send(ada, "another")
    for row_id in ids:
        assert [row["id"] for row in list_thread(ada.project_id, row_id).objects()] == ids
    page = list_thread(ada.project_id, first, limit=4)
    rest = list_thread(ada.project_id, first, limit=4, cursor=page.next)
    assert [row["id"] for row in (*page.objects(), *rest.objects())] == ids


@pytest.mark.parametrize("message_id", [9**9, 0, -1, 2**63])
def test_unknown_messages_are_not_found(ada: Caller, cy: Caller, message_id: int) -> None:
    for look in (list_thread, list_receipts):
        for wrong in (message_id, send(cy)):
            with pytest.raises(NotFound, match="There is no message"):
                look(ada.project_id, wrong)


def test_refs_open_messages(ada: Caller, cy: Caller) -> None:
    row_id, foreign = send(ada, "x" * 300, to=["ben"]), send(cy)
    names = [str(row_id), str(foreign), "x", "9" * 30, "²"]
    [(name, item)] = open_messages(ada.project_id, names, True).items()
    assert (name, item["text"], item["to"]) == (str(row_id), "x" * 300, ["ben"])
    assert len(open_messages(ada.project_id, names, False)[str(row_id)]["text"]) == 201


# -- Unread counts ---------------------------------------------------------------------------------


def test_urgent_mail_is_counted_for_each_agent(ada: Caller, ben: Caller) -> None:
    for priority in ("low", "medium", "high", "critical"):
        send(ada, to=["ben"], priority=priority)
    assert (count_urgent(ben), count_urgent(ada)) == (2, 0)
    marked(ben, *(row["id"] for row in inbox(ben, priority="high")))
    assert count_urgent(ben) == 1


def test_updates_count_unread_messages(ada: Caller, ben: Caller) -> None:
    send(ada, to=["ben"])
    send(ada, to=["eve"])
    assert count_updates(ben, since="e0")["messages"] == 1
    assert "messages" not in count_updates(ada, since="e0")


def test_the_list_of_agents_counts_unread_messages(ada: Caller, ben: Caller) -> None:
    known(ada, ben)
    send(ada)
    send(ada, to=["Ben"])
    rows = {row["name"]: row["unread"] for row in list_agents(ada.project_id).objects()}
    assert rows == {"ada": None, "ben": 2}


def test_the_view_counts_unread_messages_by_recipient_and_priority(
    ada: Caller, ben: Caller, cy: Caller
) -> None:
    known(ben)
    for priority in ("high", "high", "low"):
        send(ada, to=["ben", "zoe"], priority=priority)
    send(ada, "all")
    marked(ben, send(ada, to=["ben"], priority="critical"))
    send(cy, to=["ben"])
    select = all_views()["unread_messages_by_priority"].select
    rows = [["ben", "high", 2], ["ben", "low", 1], ["zoe", "high", 2], ["zoe", "low", 1]]
    assert [list(row) for row in select(ada.project_id).rows] == rows
    first = select(ada.project_id, limit=3)
    assert [*first.rows, *select(ada.project_id, limit=3, cursor=first.next).rows] == rows


@pytest.mark.django_db(transaction=True)
def test_a_new_agent_reads_its_inbox_while_others_write(ada: Caller, ben: Caller) -> None:
    """As it will be once the agent is registered: with the messages to everyone, and those to its name."""
    send(ada, "to all", priority="high")
    send(ada, "to Ben", to=["ben"])
    answers: list[Any] = []

    def read() -> None:
        answers.append(call(ben, "message", {"action": "inbox"}))
        connection.close()

    reader = threading.Thread(target=read)
    with write_transaction(ada.project_id):
        reader.start()
        reader.join(PATIENCE_SECONDS)
        assert answers
    agents.LATER.flush()
    assert answers[0]["count"] == 2
    assert answers[0]["rows"] == call(ben, "message", {"action": "inbox"})["rows"]
