"""`manage.py reindex` while agents write: no write is lost, and no agent gets an error."""

import random
from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import AbstractContextManager

import pytest
from django.core.management import call_command
from django.db import connection

from ctxhub.core.events.cleanup import clear
from ctxhub.core.kit.caller import Caller
from ctxhub.core.kit.transactions import write_transaction
from ctxhub.core.models import Project, SearchEntry, SearchText, SearchWord
from ctxhub.core.search import index_check, reindexing
from ctxhub.core.search.index_check import Entry, read_entries
from memory.decisions.services import delete_decision, set_decision
from messaging.messages.services import send_message
from tests.search_index import index_is_right
from tracking.changes.services import record_change

WRITERS = 4
WRITES = 40
KEYS = 12


def write(caller: Caller, seed: int) -> None:
    """Writes the same few decisions repeatedly, and adds and deletes messages."""
    chance = random.Random(seed)
    try:
        for number in range(WRITES):
            key = f"k/{chance.randrange(KEYS)}"
            set_decision(
                caller=caller, key=key, value=f"word{chance.randrange(99)} " * chance.choice((1, 900))
            )
            if number % 4 == 0:
                send_message(caller=caller, text=f"Look at {key}.")
                record_change(
                    caller=caller, path=f"{key}.py", change="modified", description=f"Turn {number}."
                )
            if number % 10 == 9:
                clear(caller=caller, older_than={"messages": "0s"})
                set_decision(caller=caller, key=f"own/{seed}", value="For a moment.")
                delete_decision(caller=caller, key=f"own/{seed}")
    finally:
        connection.close()


def delete_part_of_index(project: Project, chance: random.Random) -> None:
    """Deletes a third of an index table, which no writer would do."""
    model = chance.choice((SearchText, SearchEntry, SearchWord))
    with write_transaction(project.pk):
        rows = list(model.objects.in_project(project).values_list("pk", flat=True))
        model.objects.in_project(project).filter(pk__in=chance.sample(rows, len(rows) // 3)).delete()


def test_the_index_is_right_after_reindexing_beside_writers(transactional_db: None, ada: Caller) -> None:
    chance, rounds = random.Random(4), 0
    with ThreadPoolExecutor(WRITERS) as threads:
        writers = [threads.submit(write, ada.speaking_as(f"agent {n}"), n) for n in range(WRITERS)]
        while not all(map(Future.done, writers)):
            delete_part_of_index(ada.project, chance)
            call_command("reindex", verbosity=0)
            rounds += 1
    for writer in writers:
        writer.result()
    assert rounds > 1
    call_command("reindex", "--check", "--all")
    index_is_right(ada.project)


def test_a_write_between_check_and_repair_stays(ada: Caller, monkeypatch: pytest.MonkeyPatch) -> None:
    set_decision(caller=ada, key="k", value="before")
    SearchText.objects.in_project(ada.project).update(words="broken")

    def write_after_another(project_id: int) -> AbstractContextManager[None]:
        set_decision(caller=ada, key="k", value="after")
        return write_transaction(project_id)

    monkeypatch.setattr(reindexing, "write_transaction", write_after_another)
    call_command("reindex")
    index_is_right(ada.project)


def test_a_write_during_a_check_is_not_reported_as_a_fault(
    ada: Caller, monkeypatch: pytest.MonkeyPatch
) -> None:
    set_decision(caller=ada, key="k", value="before")
    values = iter(["between its text and its entry"])

    def read_after_a_write(project_id: int, kind: str, object_ids: Sequence[int]) -> dict[int, Entry]:
        for value in values:
            set_decision(caller=ada, key="k", value=value)
        return read_entries(project_id, kind, object_ids)

    monkeypatch.setattr(index_check, "read_entries", read_after_a_write)
    call_command("reindex", "--check")
    assert list(values) == []
