"""Search finds neighbouring turns of a conversation together, and shows nearly equal texts once."""

from typing import Any

import pytest

from ctxhub.core.kit.caller import Caller
from ctxhub.core.search.neighbours import Turn, shares_of
from ctxhub.core.search.search import search
from ctxhub.toolbox.dispatch import call
from memory.decisions.services import set_decision
from memory.memories.services import add_memory
from messaging.messages.services import send_message
from tracking.changes.services import record_change


def send(caller: Caller, text: str, **rest: Any) -> str:
    return f"message:{send_message(caller=caller, text=text, **rest)['id']}"


def turn(caller: Caller, text: str, context: str = "talk", type: str = "conversation") -> str:
    memory = add_memory(caller=caller, title=text[:40], content=text, context=context, type=type)
    return f"memory:{memory['id']}"


def refs(caller: Caller, query: str, **options: Any) -> list[str]:
    return [hit.ref for hit in search(caller.project_id, query, **options).hits]


def number(ref: str) -> int:
    return int(ref.partition(":")[2])


# -- Formulas --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("turn", "shares"),
    [
        (Turn("so be it.", [2, 3], [1, 5]), {2: 0.2, 3: 0.1, 1: 0.2, 5: 0.1}),
        (Turn("Which one?", [2, 3], [1]), {2: 0.6, 3: 0.1, 1: 0.2}),
        (Turn('"Which one?" ', [2], []), {2: 0.6}),
        (Turn("哪一個\uff1f", [2], [None]), {2: 0.6}),
        (Turn("done.", [2], [1], [7, 2]), {7: 0.6, 2: 0.6, 1: 0.2}),
        (Turn("Why?", [], []), {}),
    ],
    ids=str,
)
def test_the_shares_a_turn_lends_to_its_neighbours(turn: Turn, shares: dict[int, float]) -> None:
    assert shares_of(turn) == shares


# -- Messages --------------------------------------------------------------------------------------


def test_a_reply_is_found_with_its_question(ada: Caller, ben: Caller) -> None:
    question = send(ada, "Which broker carries the invoices", to=["ben"])
    send(ada, "Lunch is at noon.")
    reply = send(ben, "Rabbit, since spring.", reply_to=number(question))
    assert refs(ada, "broker of the invoices") == [question, reply]


def test_a_thread_neighbour_ranks_below_an_answer_to_a_question(ada: Caller, ben: Caller) -> None:
    first = send(ada, "Invoices: who reads them?", to=["ben"])
    second = send(ben, "Cleo does.", reply_to=number(first))
    third = send(ada, "Good.", reply_to=number(second))
    assert refs(ada, "who reads invoices") == [first, second]
    assert refs(ada, "Cleo") == [second, third, first]


# -- Conversations ---------------------------------------------------------------------------------


def test_the_turn_after_a_question_is_found_with_it(ada: Caller) -> None:
    before = turn(ada, "Morning, all.")
    question = turn(ada, "Which colour has the staging banner?")
    following = turn(ada, "Purple.")
    later = turn(ada, "Fine with me.")
    assert refs(ada, "colour of the staging banner") == [question, following, before, later]


def test_neighbours_are_turns_of_the_same_conversation(ada: Caller) -> None:
    question = turn(ada, "Which colour has the staging banner?")
    turn(ada, "Purple.", context="another")
    turn(ada, "A note.", type="note")
    following = turn(ada, "Green.")
    assert refs(ada, "colour of the staging banner") == [question, following]


def test_notes_lend_no_score_to_their_neighbours(ada: Caller) -> None:
    note = turn(ada, "Which colour has the staging banner?", type="note")
    turn(ada, "Purple.", type="note")
    assert refs(ada, "colour of the staging banner") == [note]


def test_neighbours_are_found_only_within_the_filters(ada: Caller, ben: Caller, cy: Caller) -> None:
    question = send(ada, "Which broker carries the invoices?", to=["ben"])
    reply = send(ben, "Rabbit, since spring.", reply_to=number(question))
    assert refs(ada, "broker invoices", by="ada") == [question]
    assert refs(ada, "broker invoices", kinds=["message"]) == [question, reply]
    assert refs(ada, "broker invoices -rabbit") == [question]
    assert refs(ada, "broker invoices", match="all") == [question]
    assert refs(ada, "broker invoices", since="2099-01-01") == []
    assert refs(cy, "broker invoices") == []


# -- Nearly equal ----------------------------------------------------------------------------------


def rows(caller: Caller, query: str, **options: Any) -> list[dict[str, Any]]:
    answer = call(caller, "search", {"query": query, "format": "objects", **options})
    return [dict(item) for item in answer["items"]]


def test_nearly_equal_messages_are_shown_once(ada: Caller) -> None:
    first = [send(ada, "Switched the cache to Redis today.") for _ in range(3)][-1]
    other = send(ada, "The cache has moved to another rack, says Cleo.")
    found = rows(ada, "cache Redis today", least=0)
    assert [(row["ref"], row.get("more")) for row in found] == [(first, 2), (other, None)]


def test_texts_that_differ_in_a_number_are_shown_each(ada: Caller) -> None:
    for build in (41, 42):
        send(ada, f"The build of the shop failed again: number {build}.")
    assert len(rows(ada, "which build of the shop failed")) == 2


def test_decisions_are_shown_each(ada: Caller) -> None:
    for key in ("a/timeout", "b/timeout"):
        set_decision(caller=ada, key=key, value="thirty seconds, as everywhere else in the shop")
    assert len(rows(ada, "timeout seconds everywhere")) == 2


def test_a_list_of_memories_hides_none(ada: Caller) -> None:
    for _ in range(3):
        turn(ada, "Redis is the cache of the shop.", type="note")
    answer = call(ada, "memory", {"action": "search", "query": "redis cache"})
    assert answer["count"] == 3


# -- A decision and talk about it ------------------------------------------------------------------


@pytest.fixture
def talk(ada: Caller, ben: Caller) -> Caller:
    send(ben, "switched the cache to redis today")
    send(ada, "cache is redis now, redis is the cache")
    record_change(caller=ada, path="deploy/cache.yml", change="modified", description="Cache to Redis.")
    rationale = "Memcached lost everything on each restart, and the cold start took the shop down twice."
    set_decision(caller=ada, key="cache/backend", value="Redis", rationale=rationale)
    return ada


@pytest.mark.parametrize(
    "query",
    [
        "Why did we switch the cache to Redis?",
        "what was the reason to take Redis as the cache",
        "為什麼 cache 用 Redis",
    ],
)
def test_a_why_question_finds_the_decision_first(talk: Caller, query: str) -> None:
    assert refs(talk, query)[0] == "decision:cache/backend"


def test_the_right_message_still_wins(talk: Caller) -> None:
    warning = send(talk, "Cleo warned that the redis cache has no password on staging.")
    assert refs(talk, "who warned that redis has no password on staging")[0] == warning
    assert refs(talk, "why does Cleo warn of the password on staging")[0] == warning
