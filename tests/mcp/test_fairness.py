"""Writers of one project wait for one another; other projects do not wait for them."""

import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

from django.db import connection

from ctxhub.core.kit.transactions import write_transaction
from ctxhub.core.models import Project
from ctxhub.mcp.db_threads import THREADS
from ctxhub.mcp.worker_threads import WORKER_THREADS
from tests.hub import LiveHub, McpClient, RestClient
from tests.timing import PATIENCE_SECONDS


@contextmanager
def long_write(project: Project) -> Iterator[None]:
    started, finish = threading.Event(), threading.Event()

    def write() -> None:
        with write_transaction(project.pk):
            started.set()
            finish.wait(PATIENCE_SECONDS)
        connection.close()

    writer = threading.Thread(target=write)
    writer.start()
    started.wait()
    try:
        yield
    finally:
        finish.set()
        writer.join()


def test_another_project_reads_while_one_projects_writers_wait(
    hub: LiveHub, apollo: Project, ada_token: str, cy_mcp: McpClient, cy_rest: RestClient
) -> None:
    cy_rest.get("stats/")
    cy_mcp.call("hub", "stats")

    def write_by_rest(number: int) -> int:
        return hub.rest(ada_token).post("decisions/", {"key": f"r{number}", "value": 1}).status

    def write_by_mcp(number: int) -> str:
        return str(hub.mcp(ada_token).call("decision", "set", key=f"m{number}", value=1)["result"])

    with ThreadPoolExecutor(WORKER_THREADS + THREADS) as crowd:
        with long_write(apollo):
            by_rest = [crowd.submit(write_by_rest, number) for number in range(WORKER_THREADS)]
            by_mcp = [crowd.submit(write_by_mcp, number) for number in range(THREADS)]
            time.sleep(0.5)
            assert cy_rest.get("stats/").status == 200
            assert cy_mcp.call("hub", "stats")["agents"] == 1
            assert not any(written.done() for written in by_rest)
            assert not any(written.done() for written in by_mcp)
        assert [written.result() for written in by_rest] == [201] * WORKER_THREADS
        assert [written.result() for written in by_mcp] == ["created"] * THREADS
