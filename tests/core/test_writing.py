"""Touch transactions: optional writes of a reader, skipped while another writer holds the lock."""

import fcntl
import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager

import pytest
from django.db import connection

from ctxhub.core.accounts.services import agents
from ctxhub.core.accounts.services.access_tokens import authenticate, create_token
from ctxhub.core.kit import transactions
from ctxhub.core.kit.caller import Caller
from ctxhub.core.models import Agent

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
        with transactions._queue:
            started.set()
            finish.wait(timeout=30)

    thread = threading.Thread(target=write)
    thread.start()
    started.wait()
    yield
    finish.set()
    thread.join()


@pytest.mark.parametrize("other_writer", [another_process_writes, another_thread_writes])
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
    agents.touch_agent(ada)
    agent.refresh_from_db()
    assert agent.last_seen_at != before, "the next call records it"


def test_a_touch_transaction_releases_the_write_lock(ada: Caller) -> None:
    for _ in range(2):
        with transactions.try_touch_transaction() as may_write:
            assert may_write
    with pytest.raises(ZeroDivisionError), transactions.try_touch_transaction():
        raise ZeroDivisionError
    with transactions.write_transaction(ada.project_id):
        pass
