"""The items of a session in the search index: found while the session has them, and masked."""

from datetime import timedelta
from typing import Any

import pytest
import time_machine
from django.db import connection
from django.test.utils import CaptureQueriesContext

from ctxhub.core.events.cleanup import cleanup
from ctxhub.core.kit import clock
from ctxhub.core.kit.caller import READ, Caller
from ctxhub.core.kit.inputs import CONTENT_BYTES
from ctxhub.core.models import Project, SearchText, SearchWord
from ctxhub.core.search.analyser import analyse, surface_words
from ctxhub.core.search.documents import date_words
from ctxhub.core.search.index_check import find_faults
from ctxhub.core.search.reindexing import reindex
from ctxhub.toolbox.dispatch import call
from sessions.models import AgentSession, ContextItem
from sessions.sittings.history import session_document
from sessions.sittings.restoring import restore_session
from sessions.sittings.rows import SESSIONS
from sessions.sittings.services import delete_session, save_session
from tests.core.test_secrets_masked import EACH
from tests.hub import RestClient

pytestmark = pytest.mark.usefixtures("index_is_kept")

ITEMS = [
    {"content": "Herons nest in colonies."},
    {"category": "pitfall", "content": "Owls hunt at night.", "importance": 9},
]


def found(caller: Caller, query: str, **more: Any) -> list[str]:
    answer = call(caller, "search", {"query": query, "match": "all", "kinds": ["session"], **more})
    return [row[0] for row in answer["rows"]]


def body(caller: Caller, session: int) -> str:
    document = session_document(SESSIONS.read(caller.project_id, [session])[session])
    assert document
    return document.body


# -- What is found ---------------------------------------------------------------------------------


@pytest.mark.parametrize("query", ["herons", "colonies", "owls", "pitfall"])
def test_a_session_is_found_by_its_items(query: str, ada: Caller, cy: Caller) -> None:
    saved = save_session(caller=ada, summary="Birds", items=ITEMS)["session"]
    assert found(ada, query) == [f"session:{saved}"]
    assert found(cy, query) == []


def test_the_excerpt_shows_the_item(ada: Caller, ada_rest: RestClient) -> None:
    saved = save_session(caller=ada, summary="Birds", conversation="Hello. " * 900, items=ITEMS)["session"]
    query = {"query": "owls hunt", "kinds": ["session"], "format": "objects"}
    [hit] = call(ada, "search", query)["items"]
    [same] = ada_rest.get("search/", query="owls hunt", kinds="session").body["items"]
    assert (hit["ref"], hit["title"]) == (f"session:{saved}", "Birds")
    assert "pitfall: Owls hunt at night." in hit["excerpt"]
    assert same["excerpt"] == hit["excerpt"]


def test_a_reader_finds_items(ada: Caller, apollo: Project) -> None:
    saved = save_session(caller=ada, items=ITEMS)["session"]
    reader = Caller(project=apollo, agent="ben", scopes=frozenset({READ}))
    assert found(reader, "owls") == [f"session:{saved}"]


def test_the_end_of_a_long_item_is_found_and_shown(ada: Caller) -> None:
    item = {"content": f"{'The marsh is wide. ' * 600}Bitterns boom."}
    save_session(caller=ada, summary="Birds", items=[item], conversation="Hello. " * 900)
    [hit] = call(ada, "search", {"query": "bitterns", "format": "objects"})["items"]
    assert "Bitterns boom." in hit["excerpt"]


def test_the_most_important_items_come_first_and_equal_ones_in_their_order(ada: Caller) -> None:
    contents = {"a": 3, "b": 9, "c": 3, "d": 10}
    items = [{"content": text, "importance": importance} for text, importance in contents.items()]
    saved = save_session(caller=ada, summary="s", items=items, conversation="e")["session"]
    assert body(ada, saved) == "d\n\nb\n\na\n\nc\n\ne"


def test_a_megabyte_of_the_most_important_items_is_indexed(ada: Caller) -> None:
    long = "marsh " * 170_000
    items = [{"content": text, "importance": n} for n, text in enumerate(["owls", "x" + long, long], 1)]
    saved = save_session(caller=ada, items=items, conversation="herons")["session"]
    assert len(body(ada, saved)) == CONTENT_BYTES + len("\n\nherons")
    assert (len(found(ada, "herons")), found(ada, "owls")) == (1, [])


# -- What follows a change -------------------------------------------------------------------------


def test_items_that_are_replaced_are_not_found(ada: Caller) -> None:
    save_session(caller=ada, session="laptop", items=ITEMS)
    save_session(caller=ada, session="laptop", items=[{"content": "Storks"}])
    assert (found(ada, "owls"), len(found(ada, "storks"))) == ([], 1)


def test_items_that_are_cleared_are_not_found(ada: Caller) -> None:
    save_session(caller=ada, session="laptop", items=ITEMS)
    save_session(caller=ada, session="laptop", items=None)
    assert found(ada, "owls") == found(ada, "herons") == []


def test_a_save_without_items_keeps_them_in_the_index(ada: Caller) -> None:
    save_session(caller=ada, session="laptop", items=ITEMS)
    save_session(caller=ada, session="laptop", summary="Birds", conversation="Hello.")
    assert len(found(ada, "owls")) == len(found(ada, "hello")) == 1


def test_a_restored_session_is_found_by_the_items_it_got_once_it_is_saved(ada: Caller) -> None:
    parent = save_session(caller=ada, items=ITEMS)["session"]
    child = restore_session(caller=ada, session=parent)["session"]
    assert found(ada, "owls") == [f"session:{parent}"]
    save_session(caller=ada, session=child, conversation="Hello.")
    delete_session(caller=ada, session=parent)
    assert found(ada, "owls") == [f"session:{child}"]


def test_items_of_deleted_and_of_forgotten_sessions_are_not_found(ada: Caller) -> None:
    deleted = save_session(caller=ada, items=ITEMS)["session"]
    save_session(caller=ada, session="laptop", items=ITEMS)
    delete_session(caller=ada, session=deleted)
    assert len(found(ada, "owls")) == 1
    with time_machine.travel(clock.now() + timedelta(days=31)):
        cleanup(ada.project_id)
    assert found(ada, "owls") == []
    assert not SearchWord.objects.in_project(ada.project).filter(word="owls").exists()


def test_items_written_through_the_orm_are_found_and_forgotten(ada: Caller) -> None:
    save_session(caller=ada, items=ITEMS)
    item = ContextItem.objects.in_project(ada.project).get(content__startswith="Owls")
    item.content = "Storks"
    item.save()
    assert (found(ada, "owls"), len(found(ada, "storks"))) == ([], 1)
    item.delete()
    assert (found(ada, "storks"), len(found(ada, "herons"))) == ([], 1)


def test_a_summary_written_through_the_orm_keeps_the_items(ada: Caller) -> None:
    save_session(caller=ada, items=ITEMS)
    row = AgentSession.objects.in_project(ada.project).get()
    row.summary = "Birds"
    row.save()
    assert found(ada, "birds owls") == [row.ref]


def test_a_check_finds_nothing_to_mend_and_reindexing_mends_nothing(ada: Caller) -> None:
    save_session(caller=ada, summary="Birds", items=[*ITEMS, {"content": "marsh " * 3_000}])
    assert find_faults([ada.project_id], everything=True) == []
    assert sum(step.mended for step in reindex(ada.project_id)) == 0


def test_a_check_finds_an_item_that_plain_sql_changed(ada: Caller) -> None:
    saved = save_session(caller=ada, items=ITEMS)["session"]
    ContextItem.objects.in_project(ada.project).update(content="Storks")
    assert [fault.ref for fault in find_faults([ada.project_id], everything=True)] == [f"session:{saved}"]
    assert sum(step.mended for step in reindex(ada.project_id)) == 1
    assert len(found(ada, "storks")) == 1


# -- Credentials, statements -----------------------------------------------------------------------


@pytest.mark.parametrize(("kind", "before", "value", "after"), EACH)
def test_no_credential_of_an_item_is_indexed(
    kind: str, before: str, value: str, after: str, ada: Caller
) -> None:
    save_session(caller=ada, items=[{"content": f"Owls: {before}{value}{after}"}])
    shown = f"default Owls: {before} {after} [credential: {kind}]"
    [text] = SearchText.objects.in_project(ada.project)
    indexed = {*text.words.split()} - {*date_words(clock.now())}
    assert {*analyse("credential")} <= indexed <= {*analyse(shown)}
    words = SearchWord.objects.in_project(ada.project).values_list("word", flat=True)
    assert {*words} <= surface_words(shown)


def test_a_save_sends_as_many_statements_for_many_items_as_for_one(ada: Caller) -> None:
    def statements(count: int) -> int:
        items = [{"content": f"Item {n} of the birds."} for n in range(count)]
        with CaptureQueriesContext(connection) as queries:
            save_session(caller=ada, session="laptop", items=items)
        return len(queries)

    statements(2)
    assert statements(2) == statements(50)
