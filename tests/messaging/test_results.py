"""Requests are found by their results: by index, however they were written."""

from importlib import import_module

import pytest
from django.apps import apps
from django.db import connection
from django.test.utils import CaptureQueriesContext

from ctxhub.core.kit.caller import Caller
from ctxhub.core.links import Asked
from messaging.messages.deliveries import digest_of_ref, insert_results
from messaging.messages.queries import read_links
from messaging.models import Message, MessageType, RequestState, Result
from tests.core.linked import chain, done, remember
from tests.databases import take_statistics
from tests.messaging.mail import known
from tests.messaging.many import fill
from tests.query_plans import explained, start_compact

pytestmark = pytest.mark.django_db


def saved(message: str) -> Message:
    return Message.unscoped.get(pk=message.partition(":")[2])


@pytest.mark.every_engine
def test_a_request_is_found_by_its_result_by_index(ada: Caller, ben: Caller) -> None:
    start_compact(Message, Result)
    known(ada, ben)
    fill(ada, 600, kind=MessageType.REQUEST)
    rows = list(Message.unscoped.order_by("pk"))
    for row in rows:
        row.state, row.result_refs = RequestState.DONE, [f"memory:{row.pk}", "decision:a"]
    Message.unscoped.bulk_update(rows, ["state", "result_refs"], batch_size=500)
    insert_results(ada.project_id, {row.pk: row.result_refs for row in rows})
    take_statistics()
    asked = Asked(ada.project_id, [("memory", rows[5].pk)], to_causes=True, at_most=100)
    with CaptureQueriesContext(connection) as captured:
        [found] = read_links(asked)
    assert found.there == ("message", rows[5].pk)
    plan = explained(captured.captured_queries[-1]["sql"])
    assert "messaging_requests_by_result" in plan
    assert "messaging_requests " not in plan
    assert "Seq Scan on messaging" not in plan


@pytest.mark.every_engine
def test_a_save_through_the_orm_changes_by_what_it_is_found(ada: Caller, ben: Caller) -> None:
    first, second = remember(ada, "one", "two")
    request = done(ada, ben, first)
    row = saved(request)
    row.result_refs = [second, second]
    row.save()
    assert chain(ada, first) == [(first, 0, None)]
    assert chain(ada, second)[0] == (request, 0, "result_refs")


def test_one_created_through_the_orm_is_found(ada: Caller, ben: Caller) -> None:
    [note] = remember(ada)
    row = saved(done(ada, ben))
    row.pk, row.result_refs = None, [note]
    row.save()
    assert chain(ada, note)[0] == (row.ref, 0, "result_refs")


def test_a_deleted_request_leaves_nothing(ada: Caller, ben: Caller) -> None:
    [note] = remember(ada)
    saved(done(ada, ben, note)).delete()
    assert chain(ada, note) == [(note, 0, None)]
    assert not Result.unscoped.exists()


def test_refs_with_the_same_digest_are_told_apart(
    ada: Caller, ben: Caller, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("messaging.messages.deliveries.digest_of_ref", lambda _: 7)
    first, second = remember(ada, "one", "two")
    request = done(ada, ben, first)
    assert chain(ada, first)[0] == (request, 0, "result_refs")
    assert chain(ada, second) == [(second, 0, None)]


def test_what_is_no_text_is_no_result(ada: Caller, ben: Caller) -> None:
    row = saved(done(ada, ben))
    row.result_refs = [7, None, {"ref": "memory:1"}]
    row.save()
    assert not Result.unscoped.filter(message=row).exists()


def test_the_digest_of_a_ref_stays() -> None:
    """Stored ones were made by it."""
    assert digest_of_ref("memory:5") == -8984478085323498447


@pytest.mark.every_engine
def test_the_migration_finds_the_requests_of_before(ada: Caller, ben: Caller) -> None:
    migration = import_module("messaging.migrations.0005_results_of_requests")
    first, second = remember(ada, "one", "two")
    done(ada, ben, first)
    request = done(ada, ben, second)
    done(ada, ben)
    Result.unscoped.filter(message=saved(request)).delete()
    expected = {first, second}
    for _ in range(2):
        migration.fill(apps, None)
        assert {ref for ref in expected if chain(ada, ref)[0][2] == "result_refs"} == expected
    assert Result.unscoped.count() == 2
