"""Notes in passing: what a reader would like to write, and need not."""

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
    """A lock on a file opened anew is another process's, as far as the kernel is concerned."""
    with open(f"{connection.settings_dict['NAME']}.lock", "w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


@contextmanager
def another_thread_writes() -> Iterator[None]:
    started, enough = threading.Event(), threading.Event()

    def write() -> None:
        with transactions._queue:
            started.set()
            enough.wait(timeout=30)

    thread = threading.Thread(target=write)
    thread.start()
    started.wait()
    yield
    enough.set()
    thread.join()


@pytest.mark.parametrize("somebody_writes", [another_process_writes, another_thread_writes])
def test_who_reads_does_not_wait_to_be_noted(
    ada: Caller, somebody_writes: Callable[[], AbstractContextManager[None]]
) -> None:
    token = create_token(project=ada.project, agent="ada")
    before = Agent.objects.in_project(ada.project).get(folded="ada").last_seen_at
    with somebody_writes():
        assert authenticate(token.secret).agent == "ada"
        agents.touch_agent(ada)
    token.row.refresh_from_db()
    seen = Agent.objects.in_project(ada.project).get(folded="ada")
    assert (token.row.last_used_at, seen.last_seen_at) == (None, before)
    agents.touch_agent(ada)
    seen.refresh_from_db()
    assert seen.last_seen_at != before, "it is noted by the next call"


def test_what_is_noted_leaves_the_queue_free(ada: Caller) -> None:
    for _ in range(2):
        with transactions.try_touch_transaction() as may_write:
            assert may_write
    with pytest.raises(ZeroDivisionError), transactions.try_touch_transaction():
        raise ZeroDivisionError
    with transactions.write_transaction(ada.project_id):
        pass
