"""What is worth keeping is kept, once, where it belongs."""

from threading import Barrier, Thread
from typing import Any

import pytest
from django.db import connection

from ctxhub.core.kit.caller import Caller
from ctxhub.core.kit.errors import InvalidInput, NotAllowed, NotFound
from ctxhub.core.models import Project
from ctxhub.core.toolbox.dispatch import call
from memory.decisions.services.decisions import set_decision
from memory.memories.services.captures import capture
from memory.memories.services.contexts import create_context
from memory.memories.services.memories import add_memory
from memory.models import Memory, MemoryType
from messaging.services.messages import send_message
from tests.hub import RestClient
from tests.tables import dump_project

DECIDED = (
    "We decided to keep the sessions in PostgreSQL 16, not in Redis. The module `sessions/store.py` needs one"
    " transaction for both, and the team runs a PostgreSQL server anyway."
)
LETTERS = "abcdefgh"
CHAT = (
    "Well, that was quite a long day for everybody here, and I am looking forward to the weekend, when there"
    " will be time for a walk in the park and for nothing else. See you all again on the next working day."
)


def memories(project: Project) -> list[Memory]:
    return list(Memory.objects.in_project(project).order_by("pk"))


def test_a_decision_is_kept(ada: Caller, apollo: Project) -> None:
    """0.35 * 0.75 + 0.25 * 1 + 0.25 * 1 + 0.15 * 0.8; it has code, a path, a number and an identifier."""
    answer = capture(caller=ada, content=DECIDED)
    [memory] = memories(apollo)
    assert answer == {
        "saved": True,
        "id": memory.pk,
        "confidence": 0.88,
        "parts": {"pattern": 0.75, "uniqueness": 1.0, "specificity": 1.0, "quality": 0.8},
        "context_created": True,
    }
    assert (memory.content, memory.context.name, memory.type) == (DECIDED, "general", MemoryType.NOTE)
    assert memory.title == "We decided to keep the sessions in PostgreSQL 16, not in Redis"


def test_chat_is_not_kept(ada: Caller, apollo: Project) -> None:
    """0.35 * 0 + 0.25 + 0.25 * 0.5 + 0.15 * 0.8 = 0.495, which is spoken 0.49: somebody speaks of himself."""
    answer = capture(caller=ada, content=CHAT)
    assert (answer["saved"], answer["confidence"]) == (False, 0.49)
    assert "0.65" in answer["reason"]
    assert not memories(apollo)


def test_what_is_short_is_not_kept(ada: Caller, apollo: Project) -> None:
    answer = capture(caller=ada, content="TODO: `fix` src/a/b.py 5 JWT")
    assert (answer["saved"], answer["parts"]["pattern"]) == (False, 0.0)
    assert "50" in answer["reason"]
    assert not memories(apollo)


def test_what_is_said_of_it_holds(ada: Caller, apollo: Project) -> None:
    create_context(caller=ada, name="Shop")
    capture(caller=ada, content=DECIDED, context="shop", type="reference", title="Sessions")
    [memory] = memories(apollo)
    assert (memory.context.name, memory.type, memory.title) == ("Shop", MemoryType.REFERENCE, "Sessions")


def test_it_goes_where_it_fits(ada: Caller, apollo: Project) -> None:
    create_context(caller=ada, name="Sessions", description="PostgreSQL, Redis, transactions of the store.")
    create_context(caller=ada, name="Mail")
    capture(caller=ada, content=DECIDED)
    assert memories(apollo)[0].context.name == "Sessions"


def test_a_dry_run_tells_what_would_happen_and_writes_nothing(ada: Caller, apollo: Project) -> None:
    before = dump_project(apollo)
    answer = capture(caller=ada, content=DECIDED, dry_run=True)
    assert (answer["saved"], answer["context"], answer["type"]) == (False, "general", "note")
    assert answer["title"].startswith("We decided")
    assert "reason" not in answer
    assert dump_project(apollo) == before


# -- Duplicates ------------------------------------------------------------------------------------


def test_the_same_is_kept_once(ada: Caller, ben: Caller, apollo: Project) -> None:
    first = capture(caller=ada, content=DECIDED)
    for caller in (ada, ben):
        again = capture(caller=caller, content=DECIDED)
        assert (again["saved"], again["duplicate_of"]) == (False, f"memory:{first['id']}")
    assert len(memories(apollo)) == 1


def test_nearly_the_same_is_a_duplicate_too(ada: Caller) -> None:
    first = capture(caller=ada, content=DECIDED)
    again = capture(caller=ada, content=DECIDED.replace("anyway", "already"))
    assert again["duplicate_of"] == f"memory:{first['id']}"


def test_an_excerpt_of_a_memory_is_a_duplicate(ada: Caller) -> None:
    about = "\n\n".join(
        f"Chapter {n} is about {letter * 9} and {letter * 7}." for n, letter in enumerate(LETTERS)
    )
    row_id = add_memory(caller=ada, title="All", content=f"{about}\n\n{DECIDED}\n\n{about}")["id"]
    answer = capture(caller=ada, content=DECIDED)
    assert answer["parts"]["uniqueness"] > 0.15  # The whole is not so like it: it holds it.
    assert answer["duplicate_of"] == f"memory:{row_id}"


def test_what_another_agent_said_is_not_kept_again(ada: Caller, ben: Caller, apollo: Project) -> None:
    message = send_message(caller=ben, text=f"Just so that you know.\n{DECIDED}\nBest, Ben")["id"]
    answer = capture(caller=ada, content=DECIDED)
    assert (answer["saved"], answer["duplicate_of"]) == (False, f"message:{message}")
    assert not memories(apollo)


def test_what_another_agent_decided_is_not_kept_again(ada: Caller, ben: Caller) -> None:
    set_decision(caller=ben, key="sessions/store", value="PostgreSQL", rationale=DECIDED)
    assert capture(caller=ada, content=DECIDED)["duplicate_of"] == "decision:sessions/store"


def test_what_one_said_oneself_may_be_kept(ada: Caller, apollo: Project) -> None:
    send_message(caller=ada, text=DECIDED)
    set_decision(caller=ada, key="sessions/store", value="PostgreSQL", rationale=DECIDED)
    assert capture(caller=ada, content=DECIDED)["saved"]


def test_ones_own_words_about_the_same_are_kept(ada: Caller, ben: Caller) -> None:
    send_message(caller=ben, text=DECIDED)
    own = (
        "Decision: sessions live in PostgreSQL, since `sessions/store.py` writes both in one transaction;"
        " Redis 7 would need a second commit that can fail on its own."
    )
    assert capture(caller=ada, content=own)["saved"]


def test_another_projects_words_are_no_duplicate(ada: Caller, cy: Caller) -> None:
    capture(caller=ada, content=DECIDED)
    send_message(caller=ada, text=DECIDED)
    assert capture(caller=cy, content=DECIDED)["saved"]


def test_who_may_only_write_learns_nothing_of_others(ada: Caller, apollo: Project) -> None:
    capture(caller=ada, content=DECIDED)
    writer = Caller(project=apollo, agent="eve", scopes=frozenset({"write"}))
    answer = capture(caller=writer, content=DECIDED)
    assert not answer["saved"]
    assert "duplicate_of" not in answer


@pytest.mark.django_db(transaction=True)
def test_many_at_once_keep_it_once(ada: Caller, apollo: Project) -> None:
    start, answers = Barrier(6), []

    def keep(n: int) -> None:
        try:
            start.wait()
            answers.append(capture(caller=Caller(project=apollo, agent=f"agent {n}"), content=DECIDED))
        finally:
            connection.close()

    threads = [Thread(target=keep, args=(n,)) for n in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(answer["saved"] for answer in answers) == [False] * 5 + [True]
    assert len(memories(apollo)) == 1


# -- Said wrong, and faces -------------------------------------------------------------------------


@pytest.mark.parametrize(
    "said",
    [
        {"content": ""},
        {"content": " \n\t"},
        {"content": "a\x00b" * 30},
        {"content": "x" * 1_048_577},
        {"type": "poem"},
        {"title": "x" * 501},
        {"title": "a\x00b"},
        {"context": "x" * 201},
        {"content": "The key is AKIAIOSFODNN7EXAMPLE and it opens everything that we have there."},
    ],
)
def test_what_is_said_wrong_is_refused(ada: Caller, apollo: Project, said: dict[str, Any]) -> None:
    with pytest.raises(InvalidInput):
        capture(caller=ada, **{"content": DECIDED, **said})
    assert not memories(apollo)


def test_an_unknown_id_of_a_context_is_not_found(ada: Caller, apollo: Project) -> None:
    for dry_run in (True, False):
        with pytest.raises(NotFound):
            capture(caller=ada, content=DECIDED, context=999, dry_run=dry_run)
    assert not memories(apollo)


def test_a_mebibyte_is_looked_at(ada: Caller) -> None:
    assert "saved" in capture(caller=ada, content=("lorem ipsum dolor sit amet " * 40_000)[:1_048_576])


def test_to_try_needs_no_right_to_write(apollo: Project) -> None:
    reader = Caller(project=apollo, agent="eve", scopes=frozenset({"read"}))
    said = {"action": "capture", "content": DECIDED}
    assert call(reader, "memory", {**said, "dry_run": True})["confidence"] == 0.88
    with pytest.raises(NotAllowed):
        call(reader, "memory", said)


def test_it_answers_over_rest(ada_rest: RestClient) -> None:
    dry = ada_rest.post("memories/capture/", {"content": DECIDED, "dry_run": True})
    assert (dry.status, dry.body["saved"], dry.body["context"]) == (200, False, "general")
    kept = ada_rest.post("memories/capture/", {"content": DECIDED})
    assert (kept.status, kept.body["saved"]) == (201, True)
    again = ada_rest.post("memories/capture/", {"content": DECIDED})
    assert (again.status, again.body["duplicate_of"]) == (200, f"memory:{kept.body['id']}")
    assert ada_rest.post("memories/capture/", {"content": " "}).status == 400
