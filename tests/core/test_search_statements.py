"""The statements that a search takes: sizes and counts, passages, turns, and the texts of what was found."""

from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from ctxhub.core.kit import sql
from ctxhub.core.kit.caller import Caller
from ctxhub.core.search import counts, matches
from ctxhub.core.search.reindexing import reindex
from ctxhub.core.search.search import search
from ctxhub.toolbox.dispatch import call
from memory.constraints.services import add_constraint
from memory.decisions.services import set_decision, set_decision_batch
from memory.memories.services import add_memory, update_memory
from messaging.messages.services import send_message
from tests.memory.pads import pad_of
from tracking.changes.services import record_change

QUESTION = "session cookie expiry redis gateway"
AT_MOST = 4
KINDS = {
    *("decision", "decision_revision", "constraint", "memory", "memory_revision", "message"),
    *("scratchpad", "snapshot", "resource", "change"),
}


@pytest.fixture
def mixed(ada: Caller, ben: Caller) -> Caller:
    """A project with the five words in things of ten kinds, of which two as they were before."""
    set_decision(caller=ada, key="auth/session", value="The session cookie expiry is an hour.")
    set_decision(caller=ada, key="auth/old", value="Redis behind the gateway")
    set_decision(caller=ada, key="auth/old", value="Nothing of that kind")
    add_constraint(caller=ada, category="security", text="No session without a cookie expiry.")
    talk: dict[str, Any] = {"context": "talk", "type": "conversation"}
    memory = add_memory(caller=ada, title="Sessions", content="Redis keeps sessions. Which expiry?", **talk)
    add_memory(caller=ada, title="Answer", content="An hour, says the cookie.", **talk)
    update_memory(caller=ada, memory_id=memory["id"], content="Postgres keeps them.")
    sent = send_message(caller=ben, to=["ada"], text="Is redis behind the gateway?")
    send_message(caller=ada, text="It is.", reply_to=sent["id"])
    pad_of(ada, "The redis gateway keeps the cookie.", name="notes")
    call(ada, "snapshot", {"action": "save", "content": "Moved the session cookie to redis."})
    record_change(caller=ada, path="src/session/cookie.py", change="modified", description="Expiry in redis.")
    return ada


def statements(caller: Caller, query: str, **options: Any) -> list[str]:
    with CaptureQueriesContext(connection) as captured:
        search(caller.project_id, query, **options)
    return [each["sql"] for each in captured]


@pytest.mark.every_engine
def test_five_words_in_things_of_ten_kinds_take_four_statements(mixed: Caller) -> None:
    counts._remembered.clear()
    with CaptureQueriesContext(connection) as captured:
        found = search(mixed.project_id, QUESTION, limit=50)
    kinds = {hit.ranked.candidate.kind for hit in found.hits}
    assert kinds >= KINDS
    # SQLite is in the process: a statement more is no round trip more.
    assert len(captured) == (AT_MOST - 1 + len(kinds) if sql.is_sqlite() else AT_MOST)


@pytest.mark.every_engine
@pytest.mark.parametrize("count", [20, 250])
def test_five_words_among_decisions_take_three(ada: Caller, count: int) -> None:
    for start in range(0, count, 50):
        numbers = range(start, min(start + 50, count))
        items = [
            {"key": f"k{n}", "value": f"The session cookie expiry of redis {n}, gateway"} for n in numbers
        ]
        set_decision_batch(caller=ada, items=items)
    counts._remembered.clear()
    assert len(statements(ada, QUESTION)) == 3
    assert search(ada.project_id, QUESTION).total == {"total": count}


@pytest.mark.every_engine
def test_the_texts_of_several_kinds_are_those_of_each(mixed: Caller) -> None:
    """PostgreSQL reads them as JSON when there are several."""
    found = search(mixed.project_id, QUESTION, limit=50, detail="detailed")
    for hit in found.hits:
        [alone] = [
            each
            for each in search(
                mixed.project_id, QUESTION, limit=50, kinds=[hit.ref.partition(":")[0]], detail="detailed"
            ).hits
            if each.ref == hit.ref
        ]
        assert alone.document == hit.document


@pytest.mark.every_engine
@pytest.mark.parametrize("of_hub", [0, 1_000])
def test_a_large_project_takes_no_more(mixed: Caller, monkeypatch: pytest.MonkeyPatch, of_hub: int) -> None:
    """Whether its rows are told by themselves or by the project's list."""
    counts._remembered.clear()
    few, best = len(statements(mixed, QUESTION)), search(mixed.project_id, QUESTION, limit=50)
    for module in (counts, matches):
        monkeypatch.setattr(module, "LARGE", 3)
    monkeypatch.setattr(counts, "passages_of_hub", lambda: str(of_hub))
    monkeypatch.setattr(counts, "COMMON_IN_LARGE", 1)
    counts._remembered.clear()
    counts._sizes.clear()
    assert len(statements(mixed, QUESTION)) == few
    found = search(mixed.project_id, QUESTION, limit=50)
    assert [hit.ref for hit in found.hits] == [hit.ref for hit in best.hits]


def test_reindexing_reads_the_same_documents(mixed: Caller) -> None:
    before = [hit.document for hit in search(mixed.project_id, QUESTION, limit=50).hits]
    list(reindex(mixed.project_id))
    assert [hit.document for hit in search(mixed.project_id, QUESTION, limit=50).hits] == before
