"""Deleting large containers and clearing: 500 rows a transaction, the container last."""

import threading
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection

from ctxhub.core import emptying
from ctxhub.core.events import cleanup
from ctxhub.core.events.counters import add_to_counters, counter_key
from ctxhub.core.history import History
from ctxhub.core.kit import clock
from ctxhub.core.kit.caller import Caller
from ctxhub.core.kit.deletes import delete_rows
from ctxhub.core.kit.errors import NotFound
from ctxhub.core.kit.transactions import write_transaction
from ctxhub.core.models import Event, Project, StoredAnswer
from ctxhub.core.vocabulary.names import find_vocabulary, register_agent
from ctxhub.toolbox.dispatch import call
from memory.contexts.services import create_context, delete_context
from memory.memories.history import HISTORY as MEMORIES
from memory.memories.rows import MemoryRow
from memory.models import Context, Memory, Scratchpad, Workflow
from memory.scratchpads.history import HISTORY as PADS
from memory.scratchpads.rows import PadRow
from memory.workflows.services import create_workflow, delete_workflow
from messaging.models import Message
from tests.search_index import index_is_right
from tests.tallies import counted, tallied
from tests.timing import PATIENCE_SECONDS

COUNT = 1_010

pytestmark = pytest.mark.django_db


def insert(caller: Caller, history: History[Any], rows: list[Any]) -> None:
    with write_transaction(caller.project_id):
        made = history.table.insert(caller.project_id, rows, find_vocabulary(caller.project_id))
        changes = [history.change(None, row) for row in made]
        history.record(project_id=caller.project_id, agent_id=None, changes=changes, at=clock.now())


def large_context(caller: Caller, count: int = COUNT) -> int:
    at, context = clock.now(), create_context(caller=caller, name="shop")["id"]
    times: dict[str, Any] = {"created_at": at, "updated_at": at}
    rows = [
        MemoryRow(title=f"m {n}", content="hay", context="shop", context_id=context, paths=["a/**"], **times)
        for n in range(count)
    ]
    insert(caller, MEMORIES, rows)
    return context


def large_workflow(caller: Caller, count: int = COUNT) -> int:
    at, workflow = clock.now(), create_workflow(caller=caller, name="tidy")["workflow_id"]
    times: dict[str, Any] = {"created_at": at, "updated_at": at}
    insert(caller, PADS, [PadRow(name=f"p {n}", workflow_id=workflow, **times) for n in range(count)])
    return workflow


def all_is_right(project: Project) -> None:
    index_is_right(project)
    assert tallied(project) == counted(project)


@contextmanager
def cut_off_in_batch(monkeypatch: pytest.MonkeyPatch, number: int) -> Iterator[None]:
    """The batch with this number fails before it commits."""
    delete, calls = delete_rows, iter(range(1, 100))

    def delete_or_fail(*given: Any) -> None:
        delete(*given)
        if next(calls) == number:
            raise ZeroDivisionError

    with monkeypatch.context() as patch:
        patch.setattr(emptying, "delete_rows", delete_or_fail)
        with pytest.raises(ZeroDivisionError):
            yield


def test_a_large_context_goes_whole_and_the_answer_counts_all(ada: Caller) -> None:
    context = large_context(ada)
    answer = delete_context(caller=ada, context="shop")
    assert answer == {"id": context, "name": "shop", "memories": COUNT, "result": "deleted"}
    assert not Memory.objects.in_project(ada.project).exists()
    last = list(Event.objects.in_project(ada.project).order_by("-pk")[:3])
    assert [(event.verb, event.ref) for event in last] == [
        (verb, f"context:{context}") for verb in ("deleted", "updated", "updated")
    ]
    assert last[0].data["memories"] == COUNT
    all_is_right(ada.project)


@pytest.mark.django_db(transaction=True)
def test_a_context_cut_off_is_smaller_and_a_second_call_deletes_it(
    ada: Caller, monkeypatch: pytest.MonkeyPatch
) -> None:
    context = large_context(ada)
    with cut_off_in_batch(monkeypatch, 2):
        delete_context(caller=ada, context=context)
    assert Context.objects.in_project(ada.project).get().memory_count == COUNT - 500
    all_is_right(ada.project)
    assert delete_context(caller=ada, context=context)["memories"] == COUNT - 500
    all_is_right(ada.project)


@pytest.mark.django_db(transaction=True)
def test_a_workflow_cut_off_is_smaller_and_a_second_call_deletes_it(
    ada: Caller, monkeypatch: pytest.MonkeyPatch
) -> None:
    workflow = large_workflow(ada)
    with cut_off_in_batch(monkeypatch, 2):
        delete_workflow(caller=ada, workflow_id=workflow)
    assert Workflow.objects.in_project(ada.project).exists()
    assert Scratchpad.objects.in_project(ada.project).count() == COUNT - 500
    all_is_right(ada.project)
    assert delete_workflow(caller=ada, workflow_id=workflow)["scratchpads"] == COUNT - 500
    all_is_right(ada.project)


def test_pads_are_batched_by_their_bytes_too(ada: Caller, monkeypatch: pytest.MonkeyPatch) -> None:
    workflow = large_workflow(ada, 20)
    Scratchpad.objects.in_project(ada.project).update(size=3 * 1024 * 1024)
    assert delete_workflow(caller=ada, workflow_id=workflow)["scratchpads"] == 20
    updated = Event.objects.in_project(ada.project).filter(noun="workflow", verb="updated")
    assert updated.count() == 9, "Nine batches of two pads; the last two go with the workflow."


@pytest.mark.django_db(transaction=True)
def test_a_retry_of_a_call_cut_off_deletes_the_rest_and_is_answered_once(
    ada: Caller, monkeypatch: pytest.MonkeyPatch
) -> None:
    large_context(ada)
    delete = {"refs": ["context:shop"]}
    with cut_off_in_batch(monkeypatch, 2):
        call(ada, "delete", delete, request_id="r-1")
    assert not StoredAnswer.objects.in_project(ada.project).exists()
    answer = call(ada, "delete", delete, request_id="r-1")
    assert answer["rows"] == [["context:shop", "deleted", f"with {COUNT - 500:,} memories"]]
    assert call(ada, "delete", delete, request_id="r-1") == answer
    with pytest.raises(NotFound):
        call(ada, "delete", delete, request_id="r-2")


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("request_id", [None, "r-1"])
def test_another_writer_gets_in_between_two_batches(
    ada: Caller, ben: Caller, monkeypatch: pytest.MonkeyPatch, request_id: str | None
) -> None:
    """The first batch starts only after the writer has had its turn in a thread of its own."""
    large_context(ada)
    seen: list[int] = []

    def write() -> None:
        create_context(caller=ben, name=f"c{len(seen)}")
        seen.append(Memory.objects.in_project(ben.project).count())
        connection.close()

    monkeypatch.setattr(emptying, "write_transaction", before_each(write))
    [row] = call(ada, "delete", {"refs": ["context:shop"]}, request_id=request_id)["rows"]
    assert row == ["context:shop", "deleted", f"with {COUNT:,} memories"]
    assert seen == [COUNT, COUNT - 500, COUNT - 1_000]


def before_each(write: Callable[[], None]) -> Callable[[int], Any]:
    """Write transactions before which `write` has run in a thread."""

    def after_another(project_id: int) -> Any:
        thread = threading.Thread(target=write, daemon=True)
        thread.start()
        thread.join(PATIENCE_SECONDS)
        assert not thread.is_alive(), "The lock is held between batches."
        return write_transaction(project_id)

    return after_another


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("request_id", [None, "r-1"])
def test_a_clear_removes_500_rows_a_transaction(
    ada: Caller, apollo: Project, monkeypatch: pytest.MonkeyPatch, request_id: str | None
) -> None:
    old = clock.now() - timedelta(days=30)
    sender = register_agent(ada, old)
    Message.unscoped.bulk_create(
        Message(project=apollo, sender_id=sender, text=f"m {n}", created_at=old) for n in range(COUNT)
    )
    add_to_counters(apollo.pk, Counter({counter_key("message"): COUNT}))
    seen: list[int] = []

    def write() -> None:
        seen.append(Message.objects.in_project(apollo).count())
        create_context(caller=ada, name=f"c{len(seen)}")
        connection.close()

    monkeypatch.setattr(cleanup, "write_transaction", before_each(write))
    answer = call(ada, "hub", {"action": "clear", "messages_older_than": "1d"}, request_id=request_id)
    assert answer["messages"] == COUNT
    assert seen == [COUNT, COUNT - 500, COUNT - 1_000, 0]
