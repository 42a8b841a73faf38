"""What was said in turn is found together, and nearly equal texts once."""

from typing import Any

import pytest

from ctxhub.core.kit.caller import Caller
from ctxhub.core.search.neighbours import Turn, shares_of
from ctxhub.core.search.selectors.search import search
from ctxhub.core.toolbox.dispatch import call
from memory.decisions.services.decisions import set_decision
from memory.memories.services.memories import add_memory
from messaging.services.messages import send_message
from tracking.services.changes import record_change


def say(caller: Caller, text: str, **rest: Any) -> str:
    return f"message:{send_message(caller=caller, text=text, **rest)['id']}"


def turn(caller: Caller, text: str, context: str = "talk", type: str = "conversation") -> str:
    made = add_memory(caller=caller, title=text[:40], content=text, context=context, type=type)
    return f"memory:{made['id']}"


def refs(caller: Caller, query: str, **how: Any) -> list[str]:
    return [hit.ref for hit in search(caller.project_id, query, **how).hits]


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
def test_what_a_turn_lends(turn: Turn, shares: dict[int, float]) -> None:
    assert shares_of(turn) == shares


# -- Messages --------------------------------------------------------------------------------------


def test_a_reply_is_found_with_what_it_replies_to(ada: Caller, ben: Caller) -> None:
    asked = say(ada, "Which broker carries the invoices", to=["ben"])
    say(ada, "Lunch is at noon.")
    reply = say(ben, "Rabbit, since spring.", reply_to=number(asked))
    assert refs(ada, "broker of the invoices") == [asked, reply]


def test_what_stands_next_in_a_thread_comes_behind_what_follows_a_question(ada: Caller, ben: Caller) -> None:
    first = say(ada, "Invoices: who reads them?", to=["ben"])
    second = say(ben, "Cleo does.", reply_to=number(first))
    third = say(ada, "Good.", reply_to=number(second))
    assert refs(ada, "who reads invoices") == [first, second]
    assert refs(ada, "Cleo") == [second, third, first]


# -- Conversations ---------------------------------------------------------------------------------


def test_the_turn_behind_a_question_is_found_with_it(ada: Caller) -> None:
    before = turn(ada, "Morning, all.")
    asked = turn(ada, "Which colour has the staging banner?")
    answered = turn(ada, "Purple.")
    later = turn(ada, "Fine with me.")
    assert refs(ada, "colour of the staging banner") == [asked, answered, before, later]


def test_only_turns_of_the_same_conversation_are(ada: Caller) -> None:
    asked = turn(ada, "Which colour has the staging banner?")
    turn(ada, "Purple.", context="another")
    turn(ada, "A note.", type="note")
    answered = turn(ada, "Green.")
    assert refs(ada, "colour of the staging banner") == [asked, answered]


def test_notes_lend_nothing(ada: Caller) -> None:
    note = turn(ada, "Which colour has the staging banner?", type="note")
    turn(ada, "Purple.", type="note")
    assert refs(ada, "colour of the staging banner") == [note]


def test_what_is_found_by_its_neighbour_keeps_to_the_filters(ada: Caller, ben: Caller, cy: Caller) -> None:
    asked = say(ada, "Which broker carries the invoices?", to=["ben"])
    reply = say(ben, "Rabbit, since spring.", reply_to=number(asked))
    assert refs(ada, "broker invoices", by="ada") == [asked]
    assert refs(ada, "broker invoices", kinds=["message"]) == [asked, reply]
    assert refs(ada, "broker invoices -rabbit") == [asked]
    assert refs(ada, "broker invoices", match="all") == [asked]
    assert refs(ada, "broker invoices", since="2099-01-01") == []
    assert refs(cy, "broker invoices") == []


# -- Nearly equal ----------------------------------------------------------------------------------


def rows(caller: Caller, query: str, **how: Any) -> list[dict[str, Any]]:
    answer = call(caller, "search", {"query": query, "format": "objects", **how})
    return [dict(item) for item in answer["items"]]


def test_of_nearly_equal_messages_one_is_shown(ada: Caller) -> None:
    first = [say(ada, "Switched the cache to Redis today.") for _ in range(3)][-1]
    other = say(ada, "The cache has moved to another rack, says Cleo.")
    found = rows(ada, "cache Redis today")
    assert [(row["ref"], row.get("more")) for row in found] == [(first, 2), (other, None)]


def test_numbers_tell_texts_apart(ada: Caller) -> None:
    for build in (41, 42):
        say(ada, f"The build of the shop failed again: number {build}.")
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
    say(ben, "switched the cache to redis today")
    say(ada, "cache is redis now, redis is the cache")
    record_change(caller=ada, path="deploy/cache.yml", change="modified", description="Cache to Redis.")
    why = "Memcached lost everything on each restart, and the cold start took the shop down twice."
    set_decision(caller=ada, key="cache/backend", value="Redis", rationale=why)
    return ada


@pytest.mark.parametrize(
    "question",
    [
        "Why did we switch the cache to Redis?",
        "what was the reason to take Redis as the cache",
        "為什麼 cache 用 Redis",
    ],
)
def test_who_asks_why_gets_the_decision_first(talk: Caller, question: str) -> None:
    assert refs(talk, question)[0] == "decision:cache/backend"


def test_the_right_message_still_wins(talk: Caller) -> None:
    warned = say(talk, "Cleo warned that the redis cache has no password on staging.")
    assert refs(talk, "who warned that redis has no password on staging")[0] == warned
    assert refs(talk, "why does Cleo warn of the password on staging")[0] == warned
