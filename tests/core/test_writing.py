"""Touch transactions: optional writes of a reader, skipped while another writer holds the lock."""

import fcntl
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, closing, contextmanager

import pytest
from django.db import connection

from ctxhub.core.accounts import agents
from ctxhub.core.accounts.access_tokens import authenticate, create_token
from ctxhub.core.kit import transactions
from ctxhub.core.kit.caller import Caller
from ctxhub.core.kit.write_queue import QUEUE, WriteQueue
from ctxhub.core.models import Agent, Project
from ctxhub.toolbox.dispatch import call
from tests.timing import PATIENCE_SECONDS

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.skipif(connection.vendor != "sqlite", reason="PostgreSQL has no queue for all writers"),
]


@contextmanager
def another_process_writes() -> Iterator[None]:
    """Locks the lock file through a new file handle, which the kernel treats as another process."""
    with open(f"{connection.settings_dict['NAME']}.lock", "w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


@contextmanager
def another_thread_writes() -> Iterator[None]:
    started, finish = threading.Event(), threading.Event()

    def write() -> None:
        with QUEUE:
            started.set()
            finish.wait(PATIENCE_SECONDS)

    thread = threading.Thread(target=write)
    thread.start()
    assert started.wait(PATIENCE_SECONDS)
    yield
    finish.set()
    thread.join()


@contextmanager
def another_program_writes() -> Iterator[None]:
    """Locks the database itself, as a program does that does not know the lock file."""
    with closing(sqlite3.connect(connection.settings_dict["NAME"], uri=True)) as database:
        database.execute("BEGIN IMMEDIATE")
        yield
        database.rollback()


WRITERS = [another_process_writes, another_thread_writes, another_program_writes]


@pytest.mark.parametrize("other_writer", WRITERS)
def test_a_reader_does_not_wait_to_record_its_last_use(
    ada: Caller, other_writer: Callable[[], AbstractContextManager[None]]
) -> None:
    token = create_token(project=ada.project, agent="ada")
    before = Agent.objects.in_project(ada.project).get(folded="ada").last_seen_at
    with other_writer():
        assert authenticate(token.secret).agent == "ada"
        agents.touch_agent(ada)
    token.row.refresh_from_db()
    agent = Agent.objects.in_project(ada.project).get(folded="ada")
    assert (token.row.last_used_at, agent.last_seen_at) == (None, before)
    agents.LATER.flush()
    agent.refresh_from_db()
    assert agent.last_seen_at != before, "it is recorded when the writer is done"


@pytest.mark.parametrize("other_writer", WRITERS)
def test_new_agents_read_while_another_writes(
    apollo: Project, other_writer: Callable[[], AbstractContextManager[None]]
) -> None:
    waits: list[float] = []

    def take(timeout_seconds: float) -> bool:
        waits.append(timeout_seconds)
        return WriteQueue.take(QUEUE, timeout_seconds)

    call(Caller(project=apollo, agent="ada"), "hub", {"action": "stats"})
    with other_writer(), pytest.MonkeyPatch.context() as patch:
        patch.setattr(QUEUE, "take", take)
        began = time.monotonic()
        for n in range(20):
            call(Caller(project=apollo, agent=f"agent {n}"), "hub", {"action": "stats"})
    assert set(waits) <= {0}
    # The file itself is waited for as long as the queue, if at all.
    assert time.monotonic() - began < QUEUE.most_seconds
    agents.LATER.flush()
    assert Agent.objects.in_project(apollo).count() == 21


def test_a_touch_transaction_releases_the_write_lock(ada: Caller) -> None:
    for _ in range(2):
        with transactions.try_touch_transaction() as may_write:
            assert may_write
    with pytest.raises(ZeroDivisionError), transactions.try_touch_transaction():
        raise ZeroDivisionError
    with transactions.write_transaction(ada.project_id):
        pass
