"""Capture saves valuable texts, only once, in a fitting context."""

from threading import Barrier, Thread
from typing import Any

import pytest
from django.db import connection

from ctxhub.core.kit.caller import Caller
from ctxhub.core.kit.errors import InvalidInput, NotAllowed, NotFound
from ctxhub.core.models import Event, Project
from ctxhub.toolbox.dispatch import call
from memory.capture.services import capture
from memory.contexts.services import create_context
from memory.contexts.suggest import suggest_context
from memory.decisions.services import set_decision
from memory.memories.services import add_memory
from memory.models import Context, Memory, MemoryType
from messaging.messages.services import send_message
from tests.hub import McpClient, RestClient
from tests.tables import dump_project

DECISION_TEXT = (
    "We decided to keep the sessions in PostgreSQL 16, not in Redis. The module `sessions/store.py` needs one"
    " transaction for both, and the team runs a PostgreSQL server anyway."
)
LETTERS = "abcdefgh"
CHAT_TEXT = (
    "Well, that was quite a long day for everybody here, and I am looking forward to the weekend, when there"
    " will be time for a walk in the park and for nothing else. See you all again on the next working day."
)

AWS_KEY = "AKIA" + "Q7LM2XWY4NPR5TVB"


def memories(project: Project) -> list[Memory]:
    return list(Memory.objects.in_project(project).order_by("pk"))


def test_a_decision_is_saved(ada: Caller, apollo: Project) -> None:
    """0.35 * 0.75 + 0.25 * 1 + 0.25 * 1 + 0.15 * 0.8: it has code, a path, a number and an identifier."""
    answer = capture(caller=ada, content=DECISION_TEXT)
    [memory] = memories(apollo)
    assert answer == {
        "saved": True,
        "id": memory.pk,
        "confidence": 0.88,
        "parts": {"pattern": 0.75, "uniqueness": 1.0, "specificity": 1.0, "quality": 0.8},
        "context_created": True,
    }
    assert (memory.content, memory.context.name, memory.type) == (DECISION_TEXT, "general", MemoryType.NOTE)
    assert memory.title == "We decided to keep the sessions in PostgreSQL 16, not in Redis"


def test_chat_is_not_saved(ada: Caller, apollo: Project) -> None:
    """0.35 * 0 + 0.25 + 0.25 * 0.5 + 0.15 * 0.8 = 0.495, shown as 0.49: the speaker talks about himself."""
    answer = capture(caller=ada, content=CHAT_TEXT)
    assert (answer["saved"], answer["confidence"]) == (False, 0.49)
    assert "0.65" in answer["reason"]
    assert not memories(apollo)


def test_a_short_text_is_not_saved(ada: Caller, apollo: Project) -> None:
    answer = capture(caller=ada, content="TODO: `fix` src/a/b.py 5 JWT")
    assert (answer["saved"], answer["parts"]["pattern"]) == (False, 0.0)
    assert "50" in answer["reason"]
    assert not memories(apollo)


def test_a_text_that_cannot_be_stored_is_refused(ada: Caller, apollo: Project) -> None:
    with pytest.raises(InvalidInput, match="content holds half of a surrogate pair"):
        capture(caller=ada, content="We decided to use\ud800 PostgreSQL, as it locks rows.")


def test_given_context_type_and_title_are_used(ada: Caller, apollo: Project) -> None:
    create_context(caller=ada, name="Shop")
    capture(caller=ada, content=DECISION_TEXT, context="shop", type="reference", title="Sessions")
    [memory] = memories(apollo)
    assert (memory.context.name, memory.type, memory.title) == ("Shop", MemoryType.REFERENCE, "Sessions")


def test_a_text_goes_to_the_suggested_context(ada: Caller, apollo: Project) -> None:
    create_context(caller=ada, name="Sessions", description="PostgreSQL, Redis, transactions of the store.")
    create_context(caller=ada, name="Mail")
    capture(caller=ada, content=DECISION_TEXT)
    assert memories(apollo)[0].context.name == "Sessions"


def test_a_dry_run_shows_the_result_and_writes_nothing(ada: Caller, apollo: Project) -> None:
    before = dump_project(apollo)
    answer = capture(caller=ada, content=DECISION_TEXT, dry_run=True)
    assert (answer["saved"], answer["context"], answer["type"]) == (False, "general", "note")
    assert answer["title"].startswith("We decided")
    assert "reason" not in answer
    assert dump_project(apollo) == before


# -- A context of its own --------------------------------------------------------------------------


@pytest.mark.parametrize("auto", ["auto", " AUTO "])
def test_auto_makes_the_context_that_is_suggested(auto: str, ada: Caller, apollo: Project) -> None:
    proposed = suggest_context(apollo.pk, DECISION_TEXT)["new"]
    answer = capture(caller=ada, content=DECISION_TEXT, context=auto)
    [context] = Context.objects.in_project(apollo)
    assert (answer["saved"], answer["context"], answer["context_created"]) == (True, proposed["name"], True)
    assert (context.name, context.description) == (proposed["name"], proposed["description"])
    assert sorted(tag.name for tag in context.tags.all()) == sorted(proposed["tags"])
    assert memories(apollo)[0].context == context
    events = Event.objects.in_project(apollo).order_by("pk").values_list("noun", "verb")
    assert list(events) == [("context", "created"), ("memory", "created")]


def test_auto_takes_a_context_that_fits(ada: Caller, apollo: Project) -> None:
    create_context(caller=ada, name="Sessions", description="PostgreSQL, Redis, transactions of the store.")
    answer = capture(caller=ada, content=DECISION_TEXT, context="auto")
    assert (answer["context"], "context_created" in answer) == ("Sessions", False)
    assert [memory.context.name for memory in memories(apollo)] == ["Sessions"]


def test_auto_makes_one_context_for_texts_about_one_thing(ada: Caller, ben: Caller, apollo: Project) -> None:
    first = capture(caller=ada, content=DECISION_TEXT, context="auto")
    more = (
        "We decided that `sessions/store.py` keeps sessions in PostgreSQL 16 for 30 days, in one transaction."
    )
    second = capture(caller=ben, content=more, context="auto")
    assert (second["saved"], second["context"]) == (True, first["context"])
    assert Context.objects.in_project(apollo).count() == 1


def test_auto_of_a_dry_run_names_the_context_and_makes_none(ada: Caller, apollo: Project) -> None:
    before = dump_project(apollo)
    name = suggest_context(apollo.pk, DECISION_TEXT)["new"]["name"]
    assert capture(caller=ada, content=DECISION_TEXT, context="auto", dry_run=True)["context"] == name
    assert dump_project(apollo) == before


def test_auto_makes_no_context_for_what_is_not_saved(ada: Caller, apollo: Project) -> None:
    capture(caller=ada, content=DECISION_TEXT)
    before = dump_project(apollo)
    for content in (CHAT_TEXT, DECISION_TEXT):
        answer = capture(caller=ada, content=content, context="auto")
        assert (answer["saved"], "context" in answer) == (False, False)
    assert dump_project(apollo) == before


def test_a_context_named_auto_is_named_by_its_ref(ada: Caller, apollo: Project) -> None:
    create_context(caller=ada, name="Auto")
    capture(caller=ada, content=DECISION_TEXT, context="context:auto")
    assert memories(apollo)[0].context.name == "Auto"


@pytest.mark.parametrize("name", ["auto", "Auto"])
def test_auto_over_the_wire(name: str, ada_rest: RestClient, ada_mcp: McpClient) -> None:
    dry = ada_mcp.call("memory", "capture", content=DECISION_TEXT, context=name, dry_run=True)
    reply = ada_rest.post("memories/capture/", {"content": DECISION_TEXT, "context": name})
    assert (reply.status, reply.body["context"], reply.body["context_created"]) == (201, dry["context"], True)
    [item] = ada_rest.get("contexts/").body["items"]
    assert (item["name"], item["memories"]) == (dry["context"], 1)


# -- Duplicates ------------------------------------------------------------------------------------


def test_an_equal_text_is_saved_once(ada: Caller, ben: Caller, apollo: Project) -> None:
    first = capture(caller=ada, content=DECISION_TEXT)
    for caller in (ada, ben):
        again = capture(caller=caller, content=DECISION_TEXT)
        assert (again["saved"], again["duplicate_of"]) == (False, f"memory:{first['id']}")
    assert len(memories(apollo)) == 1


def test_a_nearly_equal_text_is_a_duplicate(ada: Caller) -> None:
    first = capture(caller=ada, content=DECISION_TEXT)
    again = capture(caller=ada, content=DECISION_TEXT.replace("anyway", "already"))
    assert again["duplicate_of"] == f"memory:{first['id']}"


def test_an_excerpt_of_a_memory_is_a_duplicate(ada: Caller) -> None:
    chapters = "\n\n".join(
        f"Chapter {n} is about {letter * 9} and {letter * 7}." for n, letter in enumerate(LETTERS)
    )
    row_id = add_memory(caller=ada, title="All", content=f"{chapters}\n\n{DECISION_TEXT}\n\n{chapters}")["id"]
    answer = capture(caller=ada, content=DECISION_TEXT)
    assert answer["parts"]["uniqueness"] > 0.15  # The memory contains the text but is not similar as a whole.
    assert answer["duplicate_of"] == f"memory:{row_id}"


def test_a_message_of_another_agent_is_a_duplicate(ada: Caller, ben: Caller, apollo: Project) -> None:
    message_id = send_message(caller=ben, text=f"Just so that you know.\n{DECISION_TEXT}\nBest, Ben")["id"]
    answer = capture(caller=ada, content=DECISION_TEXT)
    assert (answer["saved"], answer["duplicate_of"]) == (False, f"message:{message_id}")
    assert not memories(apollo)


def test_a_decision_of_another_agent_is_a_duplicate(ada: Caller, ben: Caller) -> None:
    set_decision(caller=ben, key="sessions/store", value="PostgreSQL", rationale=DECISION_TEXT)
    assert capture(caller=ada, content=DECISION_TEXT)["duplicate_of"] == "decision:sessions/store"


def test_the_agents_own_message_and_decision_are_no_duplicates(ada: Caller, apollo: Project) -> None:
    send_message(caller=ada, text=DECISION_TEXT)
    set_decision(caller=ada, key="sessions/store", value="PostgreSQL", rationale=DECISION_TEXT)
    assert capture(caller=ada, content=DECISION_TEXT)["saved"]


def test_other_words_on_the_same_subject_are_no_duplicate(ada: Caller, ben: Caller) -> None:
    send_message(caller=ben, text=DECISION_TEXT)
    text = (
        "Decision: sessions live in PostgreSQL, since `sessions/store.py` writes both in one transaction;"
        " Redis 7 would need a second commit that can fail on its own."
    )
    assert capture(caller=ada, content=text)["saved"]


def test_texts_of_another_project_are_no_duplicates(ada: Caller, cy: Caller) -> None:
    capture(caller=ada, content=DECISION_TEXT)
    send_message(caller=ada, text=DECISION_TEXT)
    assert capture(caller=cy, content=DECISION_TEXT)["saved"]


def test_a_write_only_caller_is_not_told_the_duplicate(ada: Caller, apollo: Project) -> None:
    capture(caller=ada, content=DECISION_TEXT)
    writer = Caller(project=apollo, agent="eve", scopes=frozenset({"write"}))
    answer = capture(caller=writer, content=DECISION_TEXT)
    assert not answer["saved"]
    assert "duplicate_of" not in answer


@pytest.mark.django_db(transaction=True)
def test_simultaneous_captures_save_a_text_once(ada: Caller, apollo: Project) -> None:
    start, answers = Barrier(6), []

    def capture_text(n: int) -> None:
        try:
            start.wait()
            answers.append(capture(caller=Caller(project=apollo, agent=f"agent {n}"), content=DECISION_TEXT))
        finally:
            connection.close()

    threads = [Thread(target=capture_text, args=(n,)) for n in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(answer["saved"] for answer in answers) == [False] * 5 + [True]
    assert len(memories(apollo)) == 1


# -- Bad input, scopes and REST --------------------------------------------------------------------


@pytest.mark.parametrize(
    "arguments",
    [
        {"content": ""},
        {"content": " \n\t"},
        {"content": "a\x00b" * 30},
        {"content": "x" * 1_048_577},
        {"type": "poem"},
        {"title": "x" * 501},
        {"title": "a\x00b"},
        {"context": "x" * 201},
        {"content": f"The key is {AWS_KEY} and it opens everything that we have there."},
    ],
)
def test_invalid_arguments_are_refused(ada: Caller, apollo: Project, arguments: dict[str, Any]) -> None:
    with pytest.raises(InvalidInput):
        capture(caller=ada, **{"content": DECISION_TEXT, **arguments})
    assert not memories(apollo)


def test_an_unknown_context_id_is_not_found(ada: Caller, apollo: Project) -> None:
    for dry_run in (True, False):
        with pytest.raises(NotFound):
            capture(caller=ada, content=DECISION_TEXT, context=999, dry_run=dry_run)
    assert not memories(apollo)


def test_a_text_of_one_mebibyte_is_accepted(ada: Caller) -> None:
    assert "saved" in capture(caller=ada, content=("lorem ipsum dolor sit amet " * 40_000)[:1_048_576])


def test_a_dry_run_needs_no_write_scope(apollo: Project) -> None:
    reader = Caller(project=apollo, agent="eve", scopes=frozenset({"read"}))
    arguments = {"action": "capture", "content": DECISION_TEXT}
    assert call(reader, "memory", {**arguments, "dry_run": True})["confidence"] == 0.88
    with pytest.raises(NotAllowed):
        call(reader, "memory", arguments)


def test_capture_over_rest(ada_rest: RestClient) -> None:
    dry_run = ada_rest.post("memories/capture/", {"content": DECISION_TEXT, "dry_run": True})
    assert (dry_run.status, dry_run.body["saved"], dry_run.body["context"]) == (200, False, "general")
    saved = ada_rest.post("memories/capture/", {"content": DECISION_TEXT})
    assert (saved.status, saved.body["saved"]) == (201, True)
    again = ada_rest.post("memories/capture/", {"content": DECISION_TEXT})
    assert (again.status, again.body["duplicate_of"]) == (200, f"memory:{saved.body['id']}")
    assert ada_rest.post("memories/capture/", {"content": " "}).status == 400
